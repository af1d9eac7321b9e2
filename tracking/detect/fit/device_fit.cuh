#pragma once
/// Gaussian fits on the device; the steps of gaussian_fit.cpp.

#include <array>
#include <memory>
#include <span>

#include "tracking/detect/device_stages.cuh"
#include "tracking/detect/device_steps.cuh"
#include "tracking/detect/fit/fit_rules.h"
#include "tracking/detect/fit/fit_steps.h"

namespace motes::tracking::detect::device {

/// For each spot, the others within `reach` along every axis, in ascending order.
struct Near {
  const std::size_t* offsets = nullptr;  ///< [spots + 1]
  const std::uint32_t* spots = nullptr;
};
/// `states` hold places in blocks, as do `size` and `reach`. Waits for the device. O(spots * (1 + spots
/// nearby)).
Near near_spots(gpu::Arena& arena, const rules::FitState* states, std::size_t n,
                const std::array<std::int64_t, 3>& size, const std::array<double, 3>& reach);

/// Writes the slope of the background around spots that are not crowded to their states.
void tell_tilts(gpu::Arena& arena, const Values& values, const rules::FitSpots& spots, std::size_t n,
                rules::FitState* states);

/// `values`: the frame's voxels, or means over blocks of them, as `geometry` says. Memory comes from the
/// arena and must not be released before the steps are destroyed. `stages` must outlive them.
std::unique_ptr<FitSteps> fit_on_device(gpu::Arena& arena, Stages& stages, const Values& values,
                                        const Source& geometry, int dimensions,
                                        std::span<const FitStart> starts, const FitOptions& options);

}  // namespace motes::tracking::detect::device
