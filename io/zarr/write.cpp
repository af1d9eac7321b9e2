/// Writes Zarr version 2 metadata and chunks.

#include "io/zarr/write.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <motes/base/errors.h>

namespace motes::io::detail::zarr {
namespace {

namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "chunks are written in the byte order of memory");

void write_file(const fs::path& path, std::span<const char> bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out)
    throw ResourceError(path.string() + ": cannot write: " + std::strerror(errno != 0 ? errno : EIO) +
                        "; check permissions and free space, or choose another output");
}

void write_json(const fs::path& path, const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file(path, text);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw ResourceError(folder.string() + ": cannot create folder: " + error.message() +
                        "; check permissions");
}

template <class T>
void write_values(const fs::path& folder, const std::vector<std::int64_t>& shape, std::span<const T> values,
                  const char* type) {
  make_folder(folder);
  std::vector<std::int64_t> chunks;
  std::string key;
  for (const std::int64_t size : shape) {
    chunks.push_back(std::max<std::int64_t>(size, 1));
    key += key.empty() ? "0" : ".0";
  }
  write_json(folder / ".zarray", {{"zarr_format", 2},
                                  {"shape", shape},
                                  {"chunks", chunks},
                                  {"dtype", type},
                                  {"compressor", nullptr},
                                  {"fill_value", 0},
                                  {"order", "C"},
                                  {"filters", nullptr}});
  if (!values.empty())
    write_file(folder / key, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

}  // namespace

void write_group(const fs::path& folder, const Json& attributes) {
  make_folder(folder);
  write_json(folder / ".zgroup", {{"zarr_format", 2}});
  if (!attributes.empty()) write_json(folder / ".zattrs", attributes);
}

void write_array(const fs::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const double> values) {
  write_values(folder, shape, values, "<f8");
}

void write_array(const fs::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const std::int64_t> values) {
  write_values(folder, shape, values, "<i8");
}

void write_array(const fs::path& folder, const std::vector<std::int64_t>& shape,
                 std::span<const std::uint64_t> values) {
  write_values(folder, shape, values, "<u8");
}

}  // namespace motes::io::detail::zarr
