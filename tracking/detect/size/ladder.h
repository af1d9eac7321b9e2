#pragma once
/// The scales at which spots of unknown size are looked for.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/fit/refine.h"
#include "tracking/detect/size/spot_width.h"

namespace motes::tracking::detect {

constexpr std::int64_t kThin = 6;   // most planes of a thin stack, along which no scale is too large
constexpr double kWideObject = 3;   // sigma in voxels: wide objects have further rules,
constexpr double kSolidObject = 2;  // and solid ones from this on

/// Whether the frame is large enough for spots of this scale and their surroundings.
bool fits_in(const VolumeFrame& frame, const Filter& filter);

/// The spots of one rung of the ladder.
struct Rung {
  Filter filter;
  Sigma sigma{};
  double evidence = 0;  ///< of a crowd, times the share of maxima that are spots
  bool crowd = false;   ///< resolved objects side by side
  bool solid = false;   ///< `objects` are told by their shapes (solid_objects.h)
  bool wide = false;    ///< has `objects`: kWideObject or wider, or solid
  std::vector<ChosenSpot> spots;
  std::vector<Peak> peaks;  ///< of the spots
  std::size_t maxima = 0;
  std::vector<Peak> objects;  ///< result of detect_spots at this scale
};

/// The spots at one scale. `hot_voxels`: whether the frame shows some. O(voxels + maxima * voxels of a
/// window).
Rung rung_of(const Execution& execution, const VolumeFrame& frame, Polarity polarity, const Sigma& sigma,
             bool& hot_voxels);

/// The scale of rung i: equal along all axes in um, sqrt(2) times that of rung i - 1.
Sigma sigma_of_rung(const VolumeFrame& frame, double i);

/// All rungs, this much `higher`, that fit into the frame. Removes hot voxels from `frame` if one shows some.
std::vector<Rung> climb(const Execution& execution, VolumeFrame& frame, Polarity polarity, double higher);

}  // namespace motes::tracking::detect
