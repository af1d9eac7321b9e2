/// Groups, datasets and attributes through the HDF5 library.

#include "io/hdf5/h5.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>

#include "io/hdf5/h5_chunks.h"

namespace motes::io::detail::h5 {
namespace {

constexpr hsize_t kChunk = 1 << 16;
/// From this number of chunks on, all threads encode them; below, the library does.
constexpr hsize_t kChunksAlone = 4;

Handle property_list(hid_t kind) { return {H5Pcreate(kind), H5Pclose}; }

/// The file format of HDF5 1.10: superblock, object headers and chunk indices have checksums.
Handle file_access() {
  Handle list = property_list(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(list.id(), H5F_LIBVER_V110, H5F_LIBVER_V110);
  return list;
}

void order_by_creation(const Handle& list) {
  H5Pset_link_creation_order(list.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(list.id(), false);
}

Handle dataset_creation(hsize_t rows, hsize_t width) {
  Handle list = property_list(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(list.id(), false);
  if (rows == 0) return list;
  const hsize_t chunk[]{std::min(rows, kChunk), width};
  H5Pset_chunk(list.id(), width == 0 ? 1 : 2, chunk);
  H5Pset_shuffle(list.id());
  H5Pset_deflate(list.id(), 1);
  H5Pset_fletcher32(list.id());
  return list;
}

}  // namespace

void silence() {
  // Clean-up at exit writes again the data that a full disk rejected, and crashes. Handles close explicitly.
  static const bool no_cleanup = H5dont_atexit() >= 0;
  static_cast<void>(no_cleanup);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string last_error() {
  std::string text;
  const auto keep_first = [](unsigned, const H5E_error2_t* error, void* kept) -> herr_t {
    auto& first = *static_cast<std::string*>(kept);
    if (first.empty() && error->desc != nullptr) first = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "no reason given" : text;
}

bool out_of_memory() {
  bool found = false;
  const auto look = [](unsigned, const H5E_error2_t* error, void* kept) -> herr_t {
    const std::string_view words = error->desc != nullptr ? error->desc : "";
    *static_cast<bool*>(kept) |=
        error->min_num == H5E_NOSPACE && words.find("alloc") != std::string_view::npos;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &found);
  return found;
}

Writer::Writer(const std::filesystem::path& path, std::string target) : target_(std::move(target)) {
  silence();
  Handle creation = property_list(H5P_FILE_CREATE);
  order_by_creation(creation);
  const Handle access = file_access();
  errno = 0;
  file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!file_) fail("cannot create the file");
}

void Writer::fail(const std::string& what) const {
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : std::string();
  throw ResourceError(target_ + ": " + what + reason + "; check permissions and free space");
}

hid_t Writer::check(hid_t id, const std::string& what) const {
  if (id < 0) fail("cannot write " + what);
  return id;
}

void Writer::require(herr_t status, const std::string& what) const {
  if (status < 0) fail("cannot write " + what);
}

void Writer::group(const std::string& name) {
  Handle creation = property_list(H5P_GROUP_CREATE);
  order_by_creation(creation);
  const Handle made(
      check(H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), name), H5Gclose);
}

void Writer::write(const std::string& name, hid_t type, const void* values, std::size_t count,
                   std::size_t width) {
  const hsize_t shape[]{width == 0 ? count : count / width, width};
  const Handle space(check(H5Screate_simple(width == 0 ? 1 : 2, shape, nullptr), name), H5Sclose);
  const Handle creation = dataset_creation(shape[0], width);
  Handle made(
      check(H5Dcreate2(file_.id(), name.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
            name),
      H5Dclose);
  if (shape[0] >= kChunksAlone * kChunk) {
    write_chunks(made, name, static_cast<const unsigned char*>(values), shape[0],
                 std::max<std::size_t>(width, 1), H5Tget_size(type));
  } else if (count > 0) {
    require(H5Dwrite(made.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), name);
  }
  if (!made.close_now()) fail("cannot write " + name);
}

void Writer::write_chunks(const Handle& dataset, const std::string& name, const unsigned char* values,
                          std::size_t rows, std::size_t width, std::size_t value_size) {
  static_assert(std::endian::native == std::endian::little, "bytes are written in the order of memory");
  const std::size_t chunks = (rows + kChunk - 1) / kChunk, chunk_values = kChunk * width,
                    chunk_bytes = chunk_values * value_size;
  const EncodedChunk first = encode_chunk(values, chunk_values, value_size);
  const auto batch = static_cast<std::size_t>(4 * thread_count({}));
  std::vector<EncodedChunk> encoded(batch);
  for (std::size_t begin = 0; begin < chunks; begin += batch) {
    const std::size_t size = std::min(batch, chunks - begin);
    parallel_for(thread_count({}), static_cast<std::int64_t>(size), [&](std::int64_t i) {
      const std::size_t chunk = begin + static_cast<std::size_t>(i);
      const unsigned char* from = values + chunk * chunk_bytes;
      EncodedChunk& to = encoded[static_cast<std::size_t>(i)];
      const std::size_t there = std::min<std::size_t>(kChunk, rows - chunk * kChunk) * width * value_size;
      if (there < chunk_bytes) {  // the last one, padded with zeros as the library does
        std::vector<unsigned char> padded(chunk_bytes, 0);
        std::memcpy(padded.data(), from, there);
        to = encode_chunk(padded.data(), chunk_values, value_size);
      } else if (std::memcmp(from, values, chunk_bytes) == 0) {
        to = first;  // columns of one value
      } else {
        to = encode_chunk(from, chunk_values, value_size);
      }
    });
    for (std::size_t i = 0; i < size; ++i) {
      const hsize_t offset[]{(begin + i) * kChunk, 0};
      require(H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, encoded[i].filter_mask, offset,
                             encoded[i].bytes.size(), encoded[i].bytes.data()),
              name);
    }
  }
}

void Writer::dataset(const std::string& name, const std::vector<float>& values) {
  write(name, H5T_IEEE_F32LE, values.data(), values.size());
}
void Writer::dataset(const std::string& name, const std::vector<double>& values) {
  write(name, H5T_IEEE_F64LE, values.data(), values.size());
}
void Writer::dataset(const std::string& name, const std::vector<std::int32_t>& values) {
  write(name, H5T_STD_I32LE, values.data(), values.size());
}
void Writer::dataset(const std::string& name, const std::vector<std::int64_t>& values) {
  write(name, H5T_STD_I64LE, values.data(), values.size());
}
void Writer::table(const std::string& name, const std::vector<double>& values, std::size_t width) {
  write(name, H5T_IEEE_F64LE, values.data(), values.size(), width);
}
void Writer::table(const std::string& name, const std::vector<std::int64_t>& values, std::size_t width) {
  write(name, H5T_STD_I64LE, values.data(), values.size(), width);
}

Handle Writer::open_group(const std::string& name) const {
  return {check(H5Gopen2(file_.id(), name.c_str(), H5P_DEFAULT), name), H5Gclose};
}

void Writer::write_attribute(hid_t object, const std::string& name, hid_t type, const Handle& space,
                             const void* values) {
  const Handle made(check(H5Acreate2(object, name.c_str(), type, space.id(), H5P_DEFAULT, H5P_DEFAULT), name),
                    H5Aclose);
  require(H5Awrite(made.id(), type, values), name);
}

void Writer::write_text(hid_t object, const std::string& name, const std::string& text,
                        H5T_cset_t characters) {
  // Fixed length (at least 1, which the library requires): variable-length text is in a heap without
  // checksum.
  const Handle type(check(H5Tcopy(H5T_C_S1), name), H5Tclose);
  H5Tset_size(type.id(), std::max<std::size_t>(1, text.size()));
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), characters);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(object, name, type.id(), space, text.c_str());
}

void Writer::attribute(const std::string& name, const std::string& text) {
  write_text(file_.id(), name, text, H5T_CSET_UTF8);
}

void Writer::attribute(const std::string& name, const std::vector<double>& values) {
  const hsize_t length = values.size();
  const Handle space(values.size() == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &length, nullptr),
                     H5Sclose);
  write_attribute(file_.id(), name, H5T_IEEE_F64LE, space, values.data());
}

void Writer::attribute(const std::string& name, std::int64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(file_.id(), name, H5T_STD_I64LE, space, &value);
}

void Writer::attribute_of(const std::string& group, const std::string& name, const std::string& text) {
  write_text(open_group(group).id(), name, text, H5T_CSET_ASCII);
}

void Writer::attribute_of(const std::string& group, const std::string& name,
                          const std::vector<std::int64_t>& values) {
  const hsize_t length = values.size();
  const Handle space(check(H5Screate_simple(1, &length, nullptr), name), H5Sclose);
  write_attribute(open_group(group).id(), name, H5T_STD_I64LE, space, values.data());
}

void Writer::attribute_of(const std::string& group, const std::string& name, std::int64_t value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  write_attribute(open_group(group).id(), name, H5T_STD_I64LE, space, &value);
}

void Writer::close() {
  errno = 0;
  require(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "the file");
  if (!file_.close_now()) fail("cannot write the file");
}

}  // namespace motes::io::detail::h5
