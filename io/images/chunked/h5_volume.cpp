/// Reads some planes at a time, as many as a chunk has.

#include "io/images/chunked/h5_volume.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

SampleType sample_of(h5::Number number) {
  using h5::Number;
  const int bits = static_cast<int>(8 * h5::size_of(number));
  if (h5::is_float(number)) return bits == 32 ? SampleType::f32 : SampleType::f64;
  const bool is_signed =
      number == Number::i8 || number == Number::i16 || number == Number::i32 || number == Number::i64;
  return integer_type(is_signed, bits).value_or(SampleType::u8);
}

}  // namespace

H5Volume open_h5_volume(const std::filesystem::path& path, const h5::Reader& file, const std::string& name) {
  const auto info = file.dataset(name);
  if (!info) file.fail(name + ": cannot be opened: it is missing or not a dataset");
  if (info->shape.size() != 3) file.fail(name + ": is not a three-dimensional dataset");
  for (const std::int64_t size : info->shape)
    if (size <= 0 || size > std::numeric_limits<std::int32_t>::max())
      file.fail(fmt::format("{}: a side of {} voxels", name, size));
  H5Volume volume{name, {info->shape[0], info->shape[1], info->shape[2]}, info->type};
  volume.sample = sample_of(info->type);
  volume.planes_at_once = info->rows_at_once;
  frame_bytes(volume.type(), volume.stored, path);
  return volume;
}

void read_h5_volume(const std::filesystem::path& path, const h5::Reader& file, const H5Volume& volume,
                    const Shape3& shape, std::span<std::byte> out) {
  const Shape3& stored = volume.stored;
  const bool unpadded = stored.ny == shape.ny && stored.nx == shape.nx;
  if (unpadded && is_voxel_type(volume.sample))
    return file.read_rows(volume.name, volume.number, 0, shape.nz, out);
  const std::int64_t line = row_bytes(volume.sample, shape.nx);
  const std::int64_t stored_line = row_bytes(volume.sample, stored.nx);
  std::vector<std::byte> planes;
  for (std::int64_t z = 0; z < shape.nz; z += volume.planes_at_once) {
    const std::int64_t count = std::min(volume.planes_at_once, shape.nz - z);
    planes.resize(static_cast<std::size_t>(count * stored.ny * stored_line));
    file.read_rows(volume.name, volume.number, z, count, planes);
    // The padding is removed in place.
    for (std::int64_t plane = 0; plane < count && !unpadded; ++plane)
      for (std::int64_t y = 0; y < shape.ny; ++y)
        std::memmove(planes.data() + (plane * shape.ny + y) * line,
                     planes.data() + (plane * stored.ny + y) * stored_line, static_cast<std::size_t>(line));
    const std::int64_t voxels = count * shape.ny * shape.nx;
    const auto bytes = static_cast<std::size_t>(voxels * bytes_per_voxel(volume.type()));
    const auto samples = std::span(planes).first(static_cast<std::size_t>(count * shape.ny * line));
    const std::string why = convert_samples(volume.sample, shape.nx, samples, out.first(bytes));
    if (!why.empty()) throw InputError(fmt::format("{}: {} {}", path.string(), volume.name, why));
    out = out.subspan(bytes);
  }
}

void check_like_first(const SeriesInfo& first, const H5Volume& volume, const Shape3& shape) {
  if (shape == first.shape && volume.type() == first.type) return;
  throw InputError(fmt::format(
      "{}: {}: is {} x {} x {} of {}, unlike the first time point ({} x {} x {} of {}); export it "
      "again",
      first.path, volume.name, shape.nz, shape.ny, shape.nx, to_string(volume.type()), first.shape.nz,
      first.shape.ny, first.shape.nx, to_string(first.type)));
}

}  // namespace motes::io::detail
