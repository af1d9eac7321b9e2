/// The checks of every object in an HDF5 file, before it is read.

#include "io/hdf5/checked_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include <motes/base/errors.h>

#include "io/files/checked.h"

namespace motes::io::detail::h5 {
namespace {

/// Deflate compresses at most 1,032-fold: larger claims mean damage.
constexpr std::uint64_t kMaxDeflateRatio = 1100;
/// A chunk that was never written takes no space; in small files chunks up to this size are allowed.
constexpr std::uint64_t kSmallChunk = std::uint64_t{16} << 20;
constexpr std::uint64_t kMaxTextBytes = 64u << 20;
constexpr std::uint64_t kMaxAttributeValues = 1024;
constexpr std::uint64_t kBestReadBytes = std::uint64_t{64} << 20;
constexpr int kMaxSoftLinks = 16;
constexpr int kMaxRank = 16;
constexpr int kMaxMembers = 10'000;

hid_t native(Number number) {
  switch (number) {
    case Number::i8:
      return H5T_NATIVE_INT8;
    case Number::u8:
      return H5T_NATIVE_UINT8;
    case Number::i16:
      return H5T_NATIVE_INT16;
    case Number::u16:
      return H5T_NATIVE_UINT16;
    case Number::i32:
      return H5T_NATIVE_INT32;
    case Number::u32:
      return H5T_NATIVE_UINT32;
    case Number::i64:
      return H5T_NATIVE_INT64;
    case Number::u64:
      return H5T_NATIVE_UINT64;
    case Number::f32:
      return H5T_NATIVE_FLOAT;
    case Number::f64:
      return H5T_NATIVE_DOUBLE;
  }
  return -1;
}

/// Each standard type, in both byte orders.
std::array<std::pair<hid_t, Number>, 20> standard_types() {
  return {{{H5T_STD_I8LE, Number::i8},    {H5T_STD_I8BE, Number::i8},    {H5T_STD_U8LE, Number::u8},
           {H5T_STD_U8BE, Number::u8},    {H5T_STD_I16LE, Number::i16},  {H5T_STD_I16BE, Number::i16},
           {H5T_STD_U16LE, Number::u16},  {H5T_STD_U16BE, Number::u16},  {H5T_STD_I32LE, Number::i32},
           {H5T_STD_I32BE, Number::i32},  {H5T_STD_U32LE, Number::u32},  {H5T_STD_U32BE, Number::u32},
           {H5T_STD_I64LE, Number::i64},  {H5T_STD_I64BE, Number::i64},  {H5T_STD_U64LE, Number::u64},
           {H5T_STD_U64BE, Number::u64},  {H5T_IEEE_F32LE, Number::f32}, {H5T_IEEE_F32BE, Number::f32},
           {H5T_IEEE_F64LE, Number::f64}, {H5T_IEEE_F64BE, Number::f64}}};
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

std::size_t size_of(Number number) {
  switch (number) {
    case Number::i8:
    case Number::u8:
      return 1;
    case Number::i16:
    case Number::u16:
      return 2;
    case Number::i32:
    case Number::u32:
    case Number::f32:
      return 4;
    default:
      return 8;
  }
}

bool is_float(Number number) { return number == Number::f32 || number == Number::f64; }

std::int64_t DatasetInfo::row_values() const {
  std::int64_t product = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) product *= shape[axis];
  return product;
}

std::int64_t DatasetInfo::values() const { return shape.empty() ? 1 : shape[0] * row_values(); }

CheckedFile::CheckedFile(const std::filesystem::path& path) : path_(path.string()) {
  silence();
  std::error_code error;
  file_size_ = std::filesystem::file_size(path, error);
  if (error) throw InputError(path_ + ": cannot open the file: " + error.message() + "; check the path");
  if (H5Fis_hdf5(path.c_str()) <= 0) fail("this is not an HDF5 file, or its start is damaged");
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file_)
    fail("the HDF5 file cannot be opened: it is truncated, damaged or locked (" + last_error() + ")");
}

void CheckedFile::fail(const std::string& what) const {
  if (out_of_memory()) throw std::bad_alloc();
  throw InputError(path_ + ": " + what + "; restore the file or write it again");
}

/// The path with soft links replaced; none if a part of it is missing.
std::optional<std::string> CheckedFile::resolve(const std::string& name, int depth) const {
  if (depth > kMaxSoftLinks) fail(name + " is a link to a link to a link: too many");
  std::string done;
  std::size_t begin = 0;
  while (begin < name.size()) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    const std::string here = done + "/" + part;
    if (H5Lexists(file_.id(), here.c_str(), H5P_DEFAULT) <= 0) return std::nullopt;
    H5L_info_t info{};
    if (H5Lget_info(file_.id(), here.c_str(), &info, H5P_DEFAULT) < 0) fail(here + " is damaged");
    if (info.type == H5L_TYPE_HARD) {
      done = here;
      continue;
    }
    if (info.u.val_size > 65536) fail(here + " is a damaged link");
    std::string value(info.u.val_size + 1, '\0');
    if (H5Lget_val(file_.id(), here.c_str(), value.data(), value.size(), H5P_DEFAULT) < 0)
      fail(here + " is a damaged link");
    if (info.type != H5L_TYPE_SOFT) {
      const char *target = "", *object = "";
      if (info.type == H5L_TYPE_EXTERNAL)
        H5Lunpack_elink_val(value.data(), info.u.val_size, nullptr, &target, &object);
      fail(here + " is a link to another file (" + quoted(target) + "): copy the data into this file");
    }
    const std::string target = value.c_str();
    const auto resolved = resolve(target.starts_with('/') ? target : done + "/" + target, depth + 1);
    if (!resolved) return std::nullopt;
    done = *resolved;
  }
  return done.empty() ? "/" : done;
}

std::string CheckedFile::must_resolve(const std::string& name) const {
  const auto found = resolve(name);
  if (!found) fail(name + " is missing");
  return *found;
}

bool CheckedFile::has(const std::string& name) const {
  const auto found = resolve(name);
  return found && (*found == "/" || H5Oexists_by_name(file_.id(), found->c_str(), H5P_DEFAULT) > 0);
}

Number CheckedFile::number_type(hid_t type, const std::string& what) const {
  for (const auto& [standard, number] : standard_types())
    if (H5Tequal(type, standard) > 0) return number;
  fail(what + " holds values of the wrong type (no standard number of 8 to 64 bits)");
}

/// The type of one member of records, which must be of fixed size.
Handle CheckedFile::member_type(const Handle& records, const std::string& name,
                                const std::string& member) const {
  if (H5Tget_class(records.id()) != H5T_COMPOUND) fail(name + " is not a dataset of records");
  for (const H5T_class_t kind : {H5T_VLEN, H5T_STRING, H5T_REFERENCE})
    if (H5Tdetect_class(records.id(), kind) != 0) fail(name + " has records with more than numbers");
  const int index = H5Tget_member_index(records.id(), member.c_str());
  if (index < 0) fail(name + " has no column " + member);
  Handle type(H5Tget_member_type(records.id(), static_cast<unsigned>(index)), H5Tclose);
  if (!type) fail("the type of " + name + " is damaged");
  return type;
}

void CheckedFile::check_storage(const Handle& dataset, const std::string& name, const DatasetInfo& info,
                                std::size_t value_bytes) const {
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (!creation) fail(name + " is damaged: " + last_error());
  if (const int files = H5Pget_external_count(creation.id()); files != 0) {
    std::array<char, 256> file{};
    off_t offset = 0;
    hsize_t size = 0;
    if (files > 0) H5Pget_external(creation.id(), 0, file.size() - 1, file.data(), &offset, &size);
    fail(name + " keeps its values in another file (" + quoted(file.data()) + "): copy them into this one");
  }
  const std::uint64_t bytes = static_cast<std::uint64_t>(info.values()) * value_bytes;
  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout == H5D_VIRTUAL) fail(name + " is a virtual dataset, made of other files' data: copy it");
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
    fail(name + " is stored in an unknown way");
  const std::uint64_t stored = H5Dget_storage_size(dataset.id());
  if (layout == H5D_COMPACT && stored != bytes)
    fail(name + " is damaged: " + std::to_string(stored) + " bytes are stored of " + std::to_string(bytes));
  if (layout == H5D_CONTIGUOUS && stored > file_size_)
    fail(name + " claims more values than the file can have: it is damaged");
  if (bytes / kMaxDeflateRatio > file_size_) {
    fail(name + " claims " + std::to_string(info.values()) +
         " values, more than the file can have: it is damaged");
  }
  if (layout != H5D_CHUNKED) return;
  std::array<hsize_t, kMaxRank> chunk{};
  const int rank = H5Pget_chunk(creation.id(), kMaxRank, chunk.data());
  if (rank != static_cast<int>(info.shape.size())) fail(name + " has damaged chunks");
  std::uint64_t chunk_bytes = value_bytes;
  for (int axis = 0; axis < rank; ++axis)
    if (__builtin_mul_overflow(chunk_bytes, chunk[static_cast<std::size_t>(axis)], &chunk_bytes))
      chunk_bytes = std::numeric_limits<std::uint64_t>::max();
  if (chunk_bytes == 0 || (chunk_bytes > kSmallChunk && chunk_bytes / kMaxDeflateRatio > file_size_))
    fail(name + " claims chunks larger than the file can have: it is damaged");
}

Handle CheckedFile::open_dataset(const std::string& name) const {
  const std::string place = must_resolve(name);
  Handle dataset(H5Dopen2(file_.id(), place.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) fail(name + " is damaged or not a dataset");
  return dataset;
}

std::optional<DatasetInfo> CheckedFile::dataset(const std::string& name, const std::string& member) const {
  if (last_ && name == last_name_ && member == last_member_) return last_info_;
  const std::string place = must_resolve(name);
  if (const Handle group(H5Gopen2(file_.id(), place.c_str(), H5P_DEFAULT), H5Gclose); group)
    return std::nullopt;
  Handle opened = open_dataset(name);
  const Handle type(H5Dget_type(opened.id()), H5Tclose);
  if (!type) fail("the type of " + name + " is damaged");
  DatasetInfo info;
  info.type = member.empty() ? number_type(type.id(), name)
                             : number_type(member_type(type, name, member).id(), name + ", column " + member);
  const std::size_t value_bytes = member.empty() ? size_of(info.type) : H5Tget_size(type.id());
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  if (value_bytes == 0 || value_bytes > kMostBytes) fail("the type of " + name + " is damaged");
  const Handle space(H5Dget_space(opened.id()), H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
  std::array<hsize_t, kMaxRank> dims{};
  if (rank < 0 || rank > kMaxRank || H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr) != rank ||
      (rank == 0 && H5Sget_simple_extent_type(space.id()) != H5S_SCALAR))
    fail(name + " has no readable shape");
  std::int64_t bytes = static_cast<std::int64_t>(value_bytes);
  for (int axis = 0; axis < rank; ++axis) {
    const hsize_t length = dims[static_cast<std::size_t>(axis)];
    const auto product =
        length > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max())
            ? std::nullopt
            : checked_product({std::max<std::int64_t>(bytes, 1), static_cast<std::int64_t>(length)});
    if (!product) fail(name + " claims more values than the file can have: it is damaged");
    bytes = length == 0 ? bytes : *product;
    info.shape.push_back(static_cast<std::int64_t>(length));
  }
  check_storage(opened, name, info, value_bytes);
  const Handle creation(H5Dget_create_plist(opened.id()), H5Pclose);
  std::array<hsize_t, kMaxRank> chunk{1};
  if (creation && H5Pget_layout(creation.id()) == H5D_CHUNKED)
    H5Pget_chunk(creation.id(), kMaxRank, chunk.data());
  const auto row_bytes =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(info.row_values()) * value_bytes);
  const std::uint64_t chunk_rows = std::clamp<std::uint64_t>(chunk[0], 1, std::uint64_t{1} << 40);
  info.rows_at_once = static_cast<std::int64_t>(
      std::max<std::uint64_t>(1, kBestReadBytes / row_bytes / chunk_rows) * chunk_rows);
  last_ = std::move(opened);
  last_name_ = name;
  last_member_ = member;
  last_info_ = info;
  return info;
}

void CheckedFile::read_rows(const std::string& name, Number as, std::int64_t first, std::int64_t count,
                            std::span<std::byte> out, const std::string& member) const {
  const auto info = dataset(name, member);
  if (!info) fail(name + " is not a dataset");
  const std::int64_t rows = info->shape.empty() ? 1 : info->shape[0];
  if (first < 0 || count < 0 || first > rows || count > rows - first ||
      out.size() != static_cast<std::uint64_t>(count * info->row_values()) * size_of(as))
    fail(name + " has fewer rows than are needed");
  if (out.empty()) return;
  const Handle space(H5Dget_space(last_.id()), H5Sclose);
  std::array<hsize_t, kMaxRank> start{}, size{};
  for (std::size_t axis = 0; axis < info->shape.size(); ++axis)
    size[axis] = static_cast<hsize_t>(info->shape[axis]);
  start[0] = static_cast<hsize_t>(first);
  size[0] = static_cast<hsize_t>(count);
  const bool part = !info->shape.empty() && count != rows;
  if (part &&
      H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) < 0)
    fail("the shape of " + name + " is damaged");
  const hsize_t values = static_cast<hsize_t>(count * info->row_values());
  const Handle memory(H5Screate_simple(1, &values, nullptr), H5Sclose);
  Handle type(H5Tcopy(native(as)), H5Tclose);
  if (!member.empty()) {
    type = Handle(H5Tcreate(H5T_COMPOUND, size_of(as)), H5Tclose);
    if (H5Tinsert(type.id(), member.c_str(), 0, native(as)) < 0) fail("the type of " + name + " is damaged");
  }
  if (H5Dread(last_.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, out.data()) < 0)
    fail("the values of " + name + " are damaged or cut off (" + last_error() + ")");
}

std::vector<std::string> CheckedFile::members(const std::string& name) const {
  const std::string place = must_resolve(name);
  std::vector<std::string> found;
  const Handle opened(H5Dopen2(file_.id(), place.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(opened ? H5Dget_type(opened.id()) : -1, H5Tclose);
  if (!type || H5Tget_class(type.id()) != H5T_COMPOUND) return found;
  const int count = H5Tget_nmembers(type.id());
  if (count < 0 || count > kMaxMembers) fail(name + " claims " + std::to_string(count) + " columns");
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    char* const text = H5Tget_member_name(type.id(), i);
    if (text == nullptr) fail("the type of " + name + " is damaged");
    found.emplace_back(text);
    H5free_memory(text);
  }
  return found;
}

std::vector<std::string> CheckedFile::names(const std::string& group) const {
  const Handle opened(H5Gopen2(file_.id(), must_resolve(group).c_str(), H5P_DEFAULT), H5Gclose);
  if (!opened) fail(group + " is damaged or not a group");
  std::vector<std::string> found;
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  if (H5Literate(opened.id(), H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, visit, &found) >= 0) return found;
  found.clear();  // the writer did not keep the order of creation
  if (H5Literate(opened.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found) < 0)
    fail("the contents of " + group + " are damaged");
  return found;
}

Handle CheckedFile::open_attribute(const std::string& object, const std::string& attribute) const {
  const Handle owner(H5Oopen(file_.id(), must_resolve(object).c_str(), H5P_DEFAULT), H5Oclose);
  if (!owner) fail(object + " is damaged");
  const htri_t there = H5Aexists(owner.id(), attribute.c_str());
  if (there < 0) fail("the attributes are damaged");
  if (there == 0) return {};
  Handle opened(H5Aopen(owner.id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (!opened) fail("the attribute " + attribute + " is damaged");
  return opened;
}

std::optional<std::vector<double>> CheckedFile::numbers(const std::string& object,
                                                        const std::string& attribute) const {
  const Handle opened = open_attribute(object, attribute);
  if (!opened) return std::nullopt;
  const std::string what = "the attribute " + attribute;
  const Handle type(H5Aget_type(opened.id()), H5Tclose);
  const Handle space(H5Aget_space(opened.id()), H5Sclose);
  if (!type || !space) fail(what + " is damaged");
  const Number number = number_type(type.id(), what);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 1 || static_cast<std::uint64_t>(count) > kMaxAttributeValues ||
      static_cast<std::uint64_t>(count) * size_of(number) > file_size_)
    fail(what + " holds " + std::to_string(count) + " values");
  std::vector<double> values(static_cast<std::size_t>(count));
  if (H5Aread(opened.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) fail(what + " is not a number");
  return values;
}

std::optional<std::string> CheckedFile::text(const std::string& object, const std::string& attribute) const {
  const Handle opened = open_attribute(object, attribute);
  if (!opened) return std::nullopt;
  const std::string what = "the attribute " + attribute;
  const Handle type(H5Aget_type(opened.id()), H5Tclose);
  const Handle space(H5Aget_space(opened.id()), H5Sclose);
  if (!type || !space || H5Tget_class(type.id()) != H5T_STRING) fail(what + " is not text");
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (H5Tis_variable_str(type.id()) != 0) {
    if (count != 1) fail(what + " holds " + std::to_string(count) + " texts; one is expected");
    char* read = nullptr;
    if (H5Aread(opened.id(), type.id(), &read) < 0 || read == nullptr) fail(what + " is damaged");
    std::string value(read, strnlen(read, kMaxTextBytes));
    H5free_memory(read);
    return value;
  }
  const std::size_t size = H5Tget_size(type.id());
  if (count < 1 || (count != 1 && size != 1))
    fail(what + " holds " + std::to_string(count) + " texts; one is expected");
  const std::uint64_t bytes = size == 1 ? static_cast<std::uint64_t>(count) : size;
  if (bytes > kMaxTextBytes || bytes > file_size_) fail(what + " is damaged");
  std::string value(static_cast<std::size_t>(bytes), '\0');
  if (H5Aread(opened.id(), type.id(), value.data()) < 0) fail(what + " is damaged");
  value.resize(std::strlen(value.c_str()));
  return value;
}

std::vector<std::string> CheckedFile::attribute_names(const std::string& object) const {
  const Handle owner(H5Oopen(file_.id(), must_resolve(object).c_str(), H5P_DEFAULT), H5Oclose);
  std::vector<std::string> found;
  const auto visit = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  if (!owner || H5Aiterate2(owner.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found) < 0)
    fail("the attributes of " + object + " are damaged");
  return found;
}

}  // namespace motes::io::detail::h5
