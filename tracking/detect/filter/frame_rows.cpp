#include "tracking/detect/filter/frame_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include <motes/base/errors.h>

namespace motes::tracking::detect {
namespace {

std::string name(const VolumeFrame& frame) { return "frame " + std::to_string(frame.index); }

template <class T>
ValueRange range_of(const T* values, std::int64_t n) {
  T low = values[0], high = values[0];
#pragma omp simd reduction(min : low) reduction(max : high)
  for (std::int64_t i = 0; i < n; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  return {static_cast<float>(low), static_cast<float>(high)};
}

bool all_usable(const float* values, std::int64_t n) {
  int bad = 0;
#pragma omp simd reduction(| : bad)
  for (std::int64_t i = 0; i < n; ++i) bad |= static_cast<int>(!(std::fabs(values[i]) <= kLargestVoxel));
  return bad == 0;
}

[[noreturn]] void throw_bad_voxel(const VolumeFrame& frame, std::span<const float> values) {
  auto bad = std::find_if(values.begin(), values.end(), [](float v) { return std::fabs(v) > kLargestVoxel; });
  const bool is_nan = bad == values.end();
  if (is_nan) bad = std::find_if(values.begin(), values.end(), [](float v) { return std::isnan(v); });
  const std::int64_t i = bad - values.begin();
  const std::int64_t x = i % frame.shape.nx, row = i / frame.shape.nx;
  const std::string what = is_nan             ? "is NaN in a frame that does not fit into memory"
                           : std::isinf(*bad) ? "is infinite"
                                              : "is over 1e32";
  throw InputError(name(frame) + ": voxel (z, y, x) = (" + std::to_string(row / frame.shape.ny) + ", " +
                   std::to_string(row % frame.shape.ny) + ", " + std::to_string(x) + ") " + what +
                   "; replace such values before detecting");
}

template <class T>
ValueRange scan(const Execution& execution, const VolumeFrame& frame, std::span<const T> values) {
  constexpr std::int64_t kChunk = 1 << 16;
  const auto n = static_cast<std::int64_t>(values.size());
  float low = static_cast<float>(values[0]), high = low;
  int bad = 0;
#pragma omp parallel for num_threads(thread_count(execution)) reduction(min                      \
                                                                        : low) reduction(max     \
                                                                                         : high) \
    reduction(|                                                                                  \
              : bad)
  for (std::int64_t begin = 0; begin < n; begin += kChunk) {
    const std::int64_t size = std::min(kChunk, n - begin);
    if constexpr (std::is_same_v<T, float>) bad |= static_cast<int>(!all_usable(values.data() + begin, size));
    const ValueRange range = range_of(values.data() + begin, size);
    low = std::min(low, range.low);
    high = std::max(high, range.high);
  }
  if constexpr (std::is_same_v<T, float>)
    if (bad != 0) throw_bad_voxel(frame, values);
  return {low + 0.0F, high + 0.0F};  // no negative zero, which depends on the order of voxels
}

}  // namespace

void check_sizes(const VolumeFrame& frame) {
  const Shape3& s = frame.shape;
  const std::size_t held = std::visit([](const auto& v) { return v.size(); }, frame.voxels);
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  const bool possible = s.nz >= 0 && s.ny >= 0 && s.nx >= 0 && s.nz < kMax && s.ny < kMax && s.nx < kMax;
  const double expected = static_cast<double>(s.nz) * static_cast<double>(s.ny) * static_cast<double>(s.nx);
  if (!possible || expected != static_cast<double>(held))
    throw InputError(name(frame) + ": shape (z, y, x) = (" + std::to_string(s.nz) + ", " +
                     std::to_string(s.ny) + ", " + std::to_string(s.nx) + ") does not fit its " +
                     std::to_string(held) + " voxels");
  for (const double size : {frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z})
    if (!(size > 0) || !std::isfinite(size))
      throw InputError(name(frame) + ": the voxel size must be positive; set input.voxel_um");
}

ValueRange check_frame(const Execution& execution, const VolumeFrame& frame) {
  check_sizes(frame);
  if (frame.shape.voxels() == 0) return {};
  return visit_voxels(frame.voxels, [&](auto values) { return scan(execution, frame, values); });
}

void read_row(const VolumeFrame& frame, std::int64_t z, std::int64_t y, std::int64_t begin, std::int64_t n,
              float offset, float* out) {
  const std::int64_t first = (z * frame.shape.ny + y) * frame.shape.nx + begin;
  visit_voxels(frame.voxels, [&](auto values) {
    const auto* row = values.data() + first;
#pragma omp simd
    for (std::int64_t x = 0; x < n; ++x) out[x] = static_cast<float>(row[x]) - offset;
  });
}

}  // namespace motes::tracking::detect
