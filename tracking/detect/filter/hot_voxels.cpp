#include "tracking/detect/filter/hot_voxels.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <motes/base/parallel_for.h>

namespace motes::tracking::detect {
namespace {

constexpr double kClear = 4;
// Largest shares of hot voxels. In symmetric noise 0.026 of the voxels of a plane and 0.001 of those of a
// stack look hot. In skewed noise more do (exponential: 0.047 of a plane), and their repair would leave lumps
// that look like spots.
constexpr double kMostInPlane = 0.04, kMostInStack = 0.01;

struct Repair {
  std::size_t voxel = 0;
  double value = 0;
};

/// The median of the neighbours if the voxel is hot. `sign` is -1 for dark spots.
template <class T>
std::optional<double> repaired(const T* voxels, const Shape3& s, std::int64_t z, std::int64_t y,
                               std::int64_t x, double sign) {
  std::array<double, 26> near{};
  std::size_t n = 0;
  const double own = sign * static_cast<double>(voxels[(z * s.ny + y) * s.nx + x]);
  for (std::int64_t k = std::max<std::int64_t>(0, z - 1); k <= std::min(s.nz - 1, z + 1); ++k)
    for (std::int64_t j = std::max<std::int64_t>(0, y - 1); j <= std::min(s.ny - 1, y + 1); ++j)
      for (std::int64_t i = std::max<std::int64_t>(0, x - 1); i <= std::min(s.nx - 1, x + 1); ++i) {
        if (k == z && j == y && i == x) continue;
        near[n++] = sign * static_cast<double>(voxels[(k * s.ny + j) * s.nx + i]);
      }
  if (n < 5) return std::nullopt;
  std::nth_element(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(n - 2),
                   near.begin() + static_cast<std::ptrdiff_t>(n));
  const double second = near[n - 2];
  if (!(own > second)) return std::nullopt;
  const auto middle = near.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(near.begin(), middle, near.begin() + static_cast<std::ptrdiff_t>(n - 1));
  if (!(own - second > kClear * (second - *middle))) return std::nullopt;
  return sign * *middle;
}

template <class T>
std::vector<Repair> find_repairs(const Execution& execution, std::span<const T> voxels, const Shape3& s,
                                 double sign) {
  std::vector<std::vector<Repair>> found(static_cast<std::size_t>(s.nz * s.ny));
  parallel_for(thread_count(execution), s.nz * s.ny, [&](std::int64_t task) {
    const T* row = voxels.data() + task * s.nx;
    for (std::int64_t x = 0; x < s.nx; ++x) {
      const auto beats = [&](std::int64_t other) {
        return sign * (static_cast<double>(row[x]) - static_cast<double>(row[other])) > 0;
      };
      if ((x > 0 && !beats(x - 1)) || (x + 1 < s.nx && !beats(x + 1))) continue;
      const auto value = repaired(voxels.data(), s, task / s.ny, task % s.ny, x, sign);
      if (value)
        found[static_cast<std::size_t>(task)].push_back({static_cast<std::size_t>(task * s.nx + x), *value});
    }
  });
  std::vector<Repair> all;
  for (const auto& part : found) all.insert(all.end(), part.begin(), part.end());
  return all;
}

template <class T>
void apply(const std::vector<Repair>& repairs, std::vector<T>& voxels) {
  for (const Repair& r : repairs) voxels[r.voxel] = static_cast<T>(r.value);
}

template <class T>
void apply(const std::vector<Repair>& repairs, FileVoxels<T>& voxels) {
  ScratchArray<T> own(voxels.scratch(), voxels.size());
  std::copy(voxels.begin(), voxels.end(), own.begin());
  for (const Repair& r : repairs) own[r.voxel] = static_cast<T>(r.value);
  voxels = FileVoxels<T>(std::move(own));
}

}  // namespace

std::optional<VolumeFrame> without_hot_voxels(const Execution& execution, const VolumeFrame& frame,
                                              Polarity polarity) {
  const double sign = polarity == Polarity::bright ? 1 : -1;
  const std::vector<Repair> repairs = visit_voxels(
      frame.voxels, [&](auto voxels) { return find_repairs(execution, voxels, frame.shape, sign); });
  const double most = frame.shape.nz > 1 ? kMostInStack : kMostInPlane;
  if (repairs.empty() ||
      static_cast<double>(repairs.size()) > most * static_cast<double>(frame.shape.voxels()))
    return std::nullopt;
  VolumeFrame clean = frame;
  std::visit([&](auto& voxels) { apply(repairs, voxels); }, clean.voxels);
  return clean;
}

}  // namespace motes::tracking::detect
