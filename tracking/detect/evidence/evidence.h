#pragma once
/// How strongly the voxels around a place indicate a spot there.

#include <array>
#include <span>
#include <vector>

#include <motes/tracking/volume_frame.h>

#include "tracking/detect/evidence/evidence_rules.h"
#include "tracking/detect/filter/blocks.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/maxima/maxima.h"

namespace motes::tracking::detect {

/// The kind of extremum that is scored: maxima, or minima, which show how noise scores.
enum class Side { maxima, minima };

constexpr double kEvidenceReach = 2.2;  ///< sigmas from the middle of the box to its sides

/// For a frame in which most voxels hold the lowest value: that value, and the step to the next value. In all
/// other frames unit is 0.
struct Counting {
  double lowest = 0, unit = 0;
};

/// The sample of voxels for Counting: every step-th, from the first.
struct CountingSample {
  explicit CountingSample(std::size_t voxels);
  std::size_t step = 1, count = 0;
};

Counting counting_of(const VolumeFrame& frame);
double share_of_lowest(const VolumeFrame& frame);      ///< share of voxels with the lowest value, in a sample
Counting counting_of(std::span<const float> sampled);  ///< `sampled`: [count]

/// Degrees of freedom of the residuals of a fit in a box inside the frame.
double dof_of_box(const VolumeFrame& frame, const Filter& filter);

/// The model of evidence_rules.h with the tables that it points to.
struct EvidenceTables {
  EvidenceTables(const VolumeFrame& frame, const Source& source, const Filter& filter, Polarity polarity,
                 Side side, const Counting& counting, double reach = kEvidenceReach);
  EvidenceTables(const EvidenceTables&) = delete;
  EvidenceTables& operator=(const EvidenceTables&) = delete;

  rules::EvidenceModel model;
  std::array<std::vector<float>, 3> profiles;
  std::array<std::vector<rules::AxisSums>, 3> whole;
};

/// Evidence at each of `extrema` [n] (voxels of the response). The model is fitted by least squares within a
/// box of about `reach` sigmas to each side: a Gaussian spot of the filter's sigma at the extremum's
/// sub-voxel place, a constant and a slope. Voxels outside the frame are ignored. `polarity`: that of the
/// response; `counting`: that of the frame. The same for any thread count and voxel type. O(n * voxels of the
/// box); frames whose sigma is above 3 voxels are binned first, so the box has at most about 15 blocks along
/// each axis.
std::vector<Evidence> evidence_at(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                                  const Response& response, Polarity polarity, std::span<const Voxel> extrema,
                                  Side side, const Counting& counting, double reach = kEvidenceReach);

}  // namespace motes::tracking::detect
