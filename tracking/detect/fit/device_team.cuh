#pragma once
/// The GPU's team (see fit_window_rules.h): a window's columns are neighbouring threads of a warp. Values
/// that do not belong to a column are computed by all threads of the team, with the same result.

#include <cstddef>
#include <cstdint>

#include "tracking/detect/device_steps.cuh"
#include "tracking/detect/fit/fit_window_rules.h"

namespace motes::tracking::detect::device {

/// A place among voxels of any type. The type is looked up at run time, since code for each type would be too
/// long (fit_rules.h).
struct VoxelPlace {
  Values values;
  std::int64_t at;
  __device__ VoxelPlace operator+(std::int64_t more) const { return {values, at + more}; }
  __device__ float value(int lane) const {
    const std::int64_t i = at + lane;
    return values.u16 != nullptr  ? static_cast<float>(values.u16[i])
           : values.u8 != nullptr ? static_cast<float>(values.u8[i])
                                  : values.f32[i];
  }
};

template <int Width>
struct ThreadTeam {
  static constexpr int kWidth = Width;
  using Floats = float;
  using Ints = std::int32_t;
  int lane;
  unsigned mask;  ///< of the team's threads within their warp

  __device__ ThreadTeam() {
    lane = static_cast<int>(threadIdx.x) % Width;
    const unsigned first = threadIdx.x % 32 / Width * Width;
    mask = (Width == 32 ? 0xffffffffU : (1U << (Width % 32)) - 1) << first;
  }
  __device__ void load(const float* from, float& to) const { to = from[lane]; }
  __device__ void store(float* to, float from) const { to[lane] = from; }
  __device__ void index(float& to) const { to = static_cast<float>(lane); }
  __device__ void load_voxels(const VoxelPlace& row, const VoxelPlace&, int lanes, float& to) const {
    to = lane < lanes ? row.value(lane) : 0.0F;
  }
  template <class Use>
  __device__ void each(int n, const Use& use) const {
    MOTES_ROLLED
    for (int i = lane; i < n; i += Width) use(i);
  }
  __device__ void sync() const { __syncwarp(mask); }
};

struct DeviceVoxels {
  Values values;
  template <class Team>
  __device__ __forceinline__ void cut(const Team& team, const rules::FitSource& source,
                                      const double (&place)[3], rules::Window& w) const {
    rules::cut_window(team, source, VoxelPlace{values, 0}, place, w);
  }
};

/// Shared memory of one team: a window of `rows` rows, the profiles of `spots` spots, the sums of a system of
/// `numbers` numbers in the same place as the profiles, and `totals` totals.
struct TeamMemory {
  int rows, spots, numbers, totals;
  __host__ __device__ std::size_t shared_bytes(int width) const {
    const std::size_t profiles = static_cast<std::size_t>(spots) * sizeof(rules::FitProfiles);
    const std::size_t sums = static_cast<std::size_t>(numbers * width) * sizeof(float);
    return profiles > sums ? profiles : sums;
  }
  /// The memories of a warp's teams begin a row apart, so that their reads use different banks.
  __host__ __device__ std::size_t bytes(int width) const {
    const std::size_t window = static_cast<std::size_t>(2 * rows * width) * sizeof(float);
    const std::size_t all = static_cast<std::size_t>(totals) * sizeof(double) + shared_bytes(width) + window;
    return (all + 127) / 128 * 128 + static_cast<std::size_t>(width) * sizeof(float);
  }
  __device__ void lay_out(char* memory, int width, rules::FitScratch& scratch, rules::Window& w) const {
    scratch.totals = reinterpret_cast<double*>(memory);
    char* const shared = memory + static_cast<std::size_t>(totals) * sizeof(double);
    scratch.profiles = reinterpret_cast<rules::FitProfiles*>(shared);
    scratch.sums = reinterpret_cast<float*>(shared);
    w.values = reinterpret_cast<float*>(shared + shared_bytes(width));
    w.weights = w.values + rows * width;
  }
};

}  // namespace motes::tracking::detect::device
