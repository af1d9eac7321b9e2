#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include <motes/base/errors.h>
#include <motes/tracking/crop.h>

#include "tracking/detect/filter/central_part.h"

namespace motes::tracking {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw UsageError("'" + std::string(text) + "': " + why +
                   "; write x0:x1,y0:y1,z0:z1 in voxels, such as 100:300,0:200,: (end exclusive)");
}

std::int64_t number_of(std::string_view whole, std::string_view text, std::int64_t open) {
  if (text.empty()) return open;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    refuse(whole, "'" + std::string(text) + "' is not a voxel number");
  return value;
}

/// A crop is held in memory if this many bytes per voxel, which detection needs, fit into the memory bound.
constexpr std::size_t kBytesOfVoxel = 32;

template <class T>
void copy_rows(const T* source, const Shape3& shape, const Region& r, T* out) {
  for (std::int64_t z = r.z0; z < r.z1; ++z)
    for (std::int64_t y = r.y0; y < r.y1; ++y, out += r.x1 - r.x0)
      std::copy_n(source + (z * shape.ny + y) * shape.nx + r.x0, r.x1 - r.x0, out);
}

}  // namespace

Region parse_region(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    parts.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (parts.size() < 2 || parts.size() > 3) refuse(text, "two or three ranges are needed");
  std::array<std::int64_t, 6> ends{};
  for (std::size_t a = 0; a < parts.size(); ++a) {
    const std::size_t colon = parts[a].find(':');
    if (colon == std::string_view::npos) refuse(text, "'" + std::string(parts[a]) + "' has no ':'");
    ends[2 * a] = number_of(text, parts[a].substr(0, colon), 0);
    ends[2 * a + 1] = number_of(text, parts[a].substr(colon + 1), 0);
    if (colon + 1 < parts[a].size() && ends[2 * a + 1] <= ends[2 * a])
      refuse(text, "'" + std::string(parts[a]) + "' is empty");
  }
  return {ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]};
}

Region region_within(const Region& region, const Shape3& shape) {
  Region whole = region;
  const auto close = [](std::int64_t begin, std::int64_t& end, std::int64_t n, char axis) {
    if (end == 0) end = n;
    if (begin >= 0 && begin < end && end <= n) return;
    throw UsageError("input.crop: " + std::string(1, axis) + " " + std::to_string(begin) + ":" +
                     std::to_string(end) + " is not within the frame's 0:" + std::to_string(n) +
                     "; ranges are x, y, z");
  };
  close(whole.x0, whole.x1, shape.nx, 'x');
  close(whole.y0, whole.y1, shape.ny, 'y');
  close(whole.z0, whole.z1, shape.nz, 'z');
  return whole;
}

VolumeFrame crop_frame(const VolumeFrame& frame, const Region& given) {
  const Region r = region_within(given, frame.shape);
  VolumeFrame part;
  part.index = frame.index;
  part.time_s = frame.time_s;
  part.voxel_um = frame.voxel_um;
  part.shape = {r.z1 - r.z0, r.y1 - r.y0, r.x1 - r.x0};
  const auto count = static_cast<std::size_t>(part.shape.voxels());
  visit_voxels(frame.voxels, [&]<class T>(std::span<const T> source) {
    const std::shared_ptr<Scratch> scratch = scratch_of(frame);
    if (scratch && static_cast<std::int64_t>(count * kBytesOfVoxel) > scratch->resident_bytes()) {
      ScratchArray<T> voxels(scratch, count);
      copy_rows(source.data(), frame.shape, r, voxels.data());
      part.voxels = FileVoxels<T>(std::move(voxels));
    } else {
      std::vector<T> voxels(count);
      copy_rows(source.data(), frame.shape, r, voxels.data());
      part.voxels = std::move(voxels);
    }
  });
  return part;
}

void shift_by_region(Detections& found, const Region& region, const Vec3& voxel_um) {
  const auto move = [](std::vector<double>& values, std::int64_t begin, double voxel) {
    const double by = static_cast<double>(begin) * voxel;
    for (double& v : values) v += by;
  };
  move(found.x_um, region.x0, voxel_um.x);
  move(found.y_um, region.y0, voxel_um.y);
  move(found.z_um, region.z0, voxel_um.z);
}

VolumeFrame detect::central_part(const VolumeFrame& frame) {
  constexpr std::int64_t kMost = std::int64_t{1} << 21;
  const Shape3 whole = frame.shape;
  Shape3 part = whole;
  while (part.voxels() > kMost) {
    std::int64_t& longest = part.nx >= part.ny && part.nx >= part.nz ? part.nx
                            : part.ny >= part.nz                     ? part.ny
                                                                     : part.nz;
    longest = longest - (longest + 9) / 10;
  }
  if (part == whole) return frame;
  const std::int64_t z = (whole.nz - part.nz) / 2, y = (whole.ny - part.ny) / 2, x = (whole.nx - part.nx) / 2;
  return crop_frame(frame, {x, x + part.nx, y, y + part.ny, z, z + part.nz});
}

}  // namespace motes::tracking
