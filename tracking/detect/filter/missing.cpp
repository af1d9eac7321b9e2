/// Along each axis, every gap between data is filled from the data on both sides of it, each half from the
/// nearer one. Of the three axes, that with the nearest data decides. So a filter meets neither an edge nor
/// noise of another strength, whatever the border's direction. Voxels without data on any of their three
/// lines are filled in further rounds, from voxels that were filled before.

#include "tracking/detect/filter/missing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "tracking/detect/filter/mirror.h"

namespace motes::tracking::detect {
namespace {

constexpr std::int64_t kChunk = 1 << 16;
constexpr std::int64_t kTask = 64;  // lines

std::int64_t count_missing(const float* voxels, std::int64_t n) {
  std::int64_t count = 0;
#pragma omp simd reduction(+ : count)
  for (std::int64_t i = 0; i < n; ++i) count += voxels[i] != voxels[i] ? 1 : 0;
  return count;
}

/// The lines of voxels along one axis.
struct Lines {
  std::int64_t length = 1, stride = 1, count = 1;
  std::int64_t inner = 1;  ///< lines whose first voxels are side by side in memory

  std::int64_t start(std::int64_t line) const {
    return line / inner * inner * length + line % inner * (inner == 1 ? 0 : 1);
  }
};

std::array<Lines, 3> lines_of(const Shape3& s) {
  return {Lines{s.nx, 1, s.ny * s.nz, 1}, Lines{s.ny, s.nx, s.nx * s.nz, s.nx},
          Lines{s.nz, s.nx * s.ny, s.nx * s.ny, s.nx * s.ny}};
}

class Filling {
 public:
  Filling(const Execution& execution, const Shape3& shape, std::vector<float>& voxels)
      : threads_(thread_count(execution)), shape_(shape), voxels_(voxels), distance_(voxels.size(), kFar) {}

  /// One round. Returns whether any voxel was filled.
  bool fill() {
    const std::vector<float> data = voxels_;
    std::fill(distance_.begin(), distance_.end(), kFar);
    for (const Lines& lines : lines_of(shape_)) {
      if (lines.length < 2) continue;
      parallel_for(threads_, (lines.count + kTask - 1) / kTask, [&](std::int64_t task) {
        for (std::int64_t i = task * kTask; i < std::min(lines.count, (task + 1) * kTask); ++i)
          fill_line(data, lines, lines.start(i));
      });
    }
    return std::any_of(distance_.begin(), distance_.end(), [](std::int32_t d) { return d < kFar; });
  }

 private:
  static constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();

  void fill_line(const std::vector<float>& data, const Lines& lines, std::int64_t start) {
    const auto voxel = [&](std::int64_t i) { return at(start + i * lines.stride); };
    const auto missing = [&](std::int64_t i) { return std::isnan(data[voxel(i)]); };
    const auto run_from = [&](std::int64_t i) {
      Extent run{i, i};
      while (run.first < lines.length && missing(run.first)) ++run.first;
      run.end = run.first;
      while (run.end < lines.length && !missing(run.end)) ++run.end;
      return run;
    };
    Extent before{};
    for (std::int64_t i = 0; i < lines.length;) {
      const Extent after = run_from(i);
      for (; i < after.first; ++i) {
        const std::int64_t back = before.empty() ? kFar : i - before.end + 1,
                           ahead = after.empty() ? kFar : after.first - i;
        const std::int64_t distance = std::min(back, ahead);
        if (distance >= distance_[voxel(i)]) continue;
        distance_[voxel(i)] = static_cast<std::int32_t>(distance);
        voxels_[voxel(i)] = data[voxel((back <= ahead ? before : after).mirrored(i))];
      }
      before = after;
      i = std::max(i, after.end);
    }
  }

  int threads_;
  Shape3 shape_;
  std::vector<float>& voxels_;
  std::vector<std::int32_t> distance_;  ///< in voxels, to the data that filled a voxel; kFar: none
};

}  // namespace

std::int64_t missing_voxels(const Execution& execution, const VolumeFrame& frame) {
  const auto* voxels = std::get_if<std::vector<float>>(&frame.voxels);
  if (voxels == nullptr) return 0;
  const auto n = static_cast<std::int64_t>(voxels->size());
  std::vector<std::int64_t> counts(at((n + kChunk - 1) / kChunk));
  parallel_for(thread_count(execution), std::ssize(counts), [&](std::int64_t k) {
    counts[at(k)] = count_missing(voxels->data() + k * kChunk, std::min(kChunk, n - k * kChunk));
  });
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  return all;
}

std::optional<Unpadded> without_missing(const Execution& execution, const VolumeFrame& frame) {
  const std::int64_t missing = missing_voxels(execution, frame);
  if (missing == 0) return std::nullopt;
  Unpadded filled{frame, {}};
  auto& voxels = std::get<std::vector<float>>(filled.frame.voxels);
  filled.is_data.reserve(voxels.size());
  for (const float v : voxels) filled.is_data.push_back(std::isnan(v) ? 0 : 1);
  if (missing == std::ssize(voxels)) {
    std::fill(voxels.begin(), voxels.end(), 0.0F);
    return filled;
  }
  Filling filling(execution, frame.shape, voxels);
  while (filling.fill()) continue;
  return filled;
}

}  // namespace motes::tracking::detect
