#include "io/hdf5/h5.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>

#include "io/hdf5/h5_chunks.h"

namespace motes::io::detail::h5 {
namespace {

constexpr hsize_t kChunk = 1 << 16;
/// From here on chunks are encoded by all threads; below, the library does it.
constexpr hsize_t kChunksAlone = 4;
/// Deflate shrinks at most about 1032-fold: what claims to be larger than that is damaged.
constexpr std::uint64_t kMaxDeflateRatio = 1100;
constexpr std::uint64_t kMaxAttributeBytes = 64u << 20;

Handle property_list(hid_t kind) { return {H5Pcreate(kind), H5Pclose}; }

/// HDF5 1.10's own layout: superblock, object headers and chunk indices then carry checksums.
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
  // Its clean-up at the process's end writes again what a full disk refused, and crashes. Handles close here.
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
  static_assert(std::endian::native == std::endian::little, "the bytes are written as they lie in memory");
  const std::size_t chunks = (rows + kChunk - 1) / kChunk, chunk_values = kChunk * width,
                    chunk_bytes = chunk_values * value_size;
  const EncodedChunk first = encode_chunk(values, chunk_values, value_size);
  const auto batch = static_cast<std::size_t>(4 * omp_get_num_procs());
  std::vector<EncodedChunk> encoded(batch);
  for (std::size_t begin = 0; begin < chunks; begin += batch) {
    const std::size_t size = std::min(batch, chunks - begin);
    parallel_for(omp_get_num_procs(), static_cast<std::int64_t>(size), [&](std::int64_t i) {
      const std::size_t chunk = begin + static_cast<std::size_t>(i);
      const unsigned char* from = values + chunk * chunk_bytes;
      EncodedChunk& to = encoded[static_cast<std::size_t>(i)];
      const std::size_t there = std::min<std::size_t>(kChunk, rows - chunk * kChunk) * width * value_size;
      if (there < chunk_bytes) {  // the last one: filled up with zeros, as the library does
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
  // Fixed length (at least 1, as the library wants): variable-length text lies in a heap without checksum.
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

Reader::Reader(const std::filesystem::path& path) : path_(path.string()) {
  silence();
  std::error_code error;
  file_size_ = std::filesystem::file_size(path, error);
  if (error) throw InputError(path_ + ": cannot open the file: " + error.message() + "; check the path");
  if (H5Fis_hdf5(path.c_str()) <= 0) fail("this is no HDF5 file, or its start is damaged");
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file_) fail("the HDF5 file cannot be opened: it is truncated, damaged or locked");
}

void Reader::fail(const std::string& what) const {
  throw InputError(path_ + ": " + what + "; restore the file or write it anew");
}

bool Reader::has(const std::string& name) const {
  for (std::size_t slash = name.find('/', 1);; slash = name.find('/', slash + 1)) {
    const std::string part = name.substr(0, slash);
    if (H5Lexists(file_.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (H5Oexists_by_name(file_.id(), part.c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

int Reader::dimensions(const std::string& name) const {
  const Handle dataset(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) return -1;
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  return space ? H5Sget_simple_extent_ndims(space.id()) : -1;
}

std::size_t Reader::checked_length(const Handle& dataset, const std::string& name, std::size_t width) const {
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const int wanted = width == 0 ? 1 : 2;
  if (!space || H5Sget_simple_extent_ndims(space.id()) != wanted)
    fail(name + (width == 0 ? " is no one-dimensional dataset" : " is no table"));
  hsize_t shape[]{0, 0};
  if (H5Sget_simple_extent_dims(space.id(), shape, nullptr) != wanted) fail(name + " has no readable length");
  if (width != 0 && shape[1] != width) fail(name + " must have " + std::to_string(width) + " columns");
  if (shape[0] > file_size_ / sizeof(double) * kMaxDeflateRatio) {
    fail(name + " claims " + std::to_string(shape[0]) +
         " values, more than the file can hold: it is damaged");
  }
  return static_cast<std::size_t>(shape[0]) * std::max<std::size_t>(width, 1);
}

template <class T>
std::vector<T> Reader::read(const std::string& name, hid_t type, H5T_class_t expected,
                            std::size_t width) const {
  if (!has(name)) fail("the dataset " + name + " is missing");
  const Handle dataset(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) fail(name + " is damaged or no dataset");
  const Handle stored(H5Dget_type(dataset.id()), H5Tclose);
  if (!stored) fail("the type of " + name + " is damaged");
  const H5T_class_t kind = H5Tget_class(stored.id());
  const bool numeric = kind == H5T_INTEGER || (kind == H5T_FLOAT && expected == H5T_FLOAT);
  if (!numeric) fail(name + " holds values of the wrong type");
  std::vector<T> values(checked_length(dataset, name, width));
  if (!values.empty() && H5Dread(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    fail("the values of " + name + " are damaged or cut off");
  }
  return values;
}

std::vector<double> Reader::doubles(const std::string& name) const {
  return read<double>(name, H5T_NATIVE_DOUBLE, H5T_FLOAT);
}
std::vector<std::int32_t> Reader::int32s(const std::string& name) const {
  return read<std::int32_t>(name, H5T_NATIVE_INT32, H5T_INTEGER);
}
std::vector<std::int64_t> Reader::int64s(const std::string& name) const {
  return read<std::int64_t>(name, H5T_NATIVE_INT64, H5T_INTEGER);
}

std::vector<double> Reader::table(const std::string& name, std::size_t width) const {
  return read<double>(name, H5T_NATIVE_DOUBLE, H5T_FLOAT, width);
}

std::vector<std::string> Reader::names(const std::string& group) const {
  const Handle opened(H5Gopen2(file_.id(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened) fail(group + " is damaged or no group");
  std::vector<std::string> found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  if (H5Literate(opened.id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, visit, &found) >= 0) return found;
  found.clear();  // written by something that does not keep the order of creation
  if (H5Literate(opened.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found) < 0) {
    fail("the contents of " + group + " are damaged");
  }
  return found;
}

Handle Reader::open_attribute(const std::string& name) const {
  const htri_t there = H5Aexists(file_.id(), name.c_str());
  if (there < 0) fail("the attributes are damaged");
  if (there == 0) return {};
  Handle attribute(H5Aopen(file_.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!attribute) fail("the attribute " + name + " is damaged");
  return attribute;
}

std::optional<double> Reader::number_attribute(const std::string& name) const {
  const Handle attribute = open_attribute(name);
  if (!attribute) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const H5T_class_t kind = type ? H5Tget_class(type.id()) : H5T_NO_CLASS;
  double value = 0;
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || !space || H5Sget_simple_extent_npoints(space.id()) != 1 ||
      H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &value) < 0) {
    fail("the attribute " + name + " is no number");
  }
  return value;
}

std::vector<double> Reader::number_list_attribute(const std::string& name, std::size_t count) const {
  const Handle attribute = open_attribute(name);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  const H5T_class_t kind = type ? H5Tget_class(type.id()) : H5T_NO_CLASS;
  std::vector<double> values(count);
  if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || !space ||
      H5Sget_simple_extent_npoints(space.id()) != static_cast<hssize_t>(count) ||
      H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) {
    fail("the attribute " + name + " must hold " + std::to_string(count) + " numbers");
  }
  return values;
}

std::optional<std::string> Reader::text_attribute(const std::string& name) const {
  const Handle attribute = open_attribute(name);
  if (!attribute) return std::nullopt;
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  if (!type || H5Tget_class(type.id()) != H5T_STRING) fail("the attribute " + name + " is no text");
  if (H5Tis_variable_str(type.id()) != 0) {
    char* read = nullptr;
    if (H5Aread(attribute.id(), type.id(), &read) < 0 || read == nullptr)
      fail("the attribute " + name + " is damaged");
    std::string text = read;
    H5free_memory(read);
    return text;
  }
  const std::size_t size = H5Tget_size(type.id());
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (!space || H5Sget_simple_extent_npoints(space.id()) != 1 || size > kMaxAttributeBytes) {
    fail("the attribute " + name + " is damaged");
  }
  std::string text(size, '\0');
  if (H5Aread(attribute.id(), type.id(), text.data()) < 0) fail("the attribute " + name + " is damaged");
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace motes::io::detail::h5
