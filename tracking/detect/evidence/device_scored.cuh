#pragma once
/// Scored maxima on the device, for the choice of spots (choice.h).

#include <functional>
#include <memory>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/device_steps.cuh"

namespace motes::tracking::detect::device {

/// Indices of the set flags [n], in order. Waits for the device.
struct Chosen {
  unsigned* index;
  std::size_t count;
};
Chosen choose_flagged(gpu::Arena& arena, const unsigned char* flags, std::size_t n);

/// The same, without waiting.
struct ChosenOnDevice {
  unsigned *index, *count;
};
ChosenOnDevice choose_flagged_on_device(gpu::Arena& arena, const unsigned char* flags, std::size_t n);

/// The maxima of a response and the minima sampled with them, with their scores.
struct ScoredFrame {
  const VolumeFrame& frame;
  const Filter& filter;
  ResponseView response;
  Values voxels;               ///< of the frame
  bool mostly_lowest = false;  ///< see ScoredMaxima
  VoxelList maxima, minima;
  EvidenceList scores, minima_scores;
  /// Scores extrema again, in boxes of another reach.
  std::function<EvidenceList(const VoxelList&, Side, double reach)> score;
};

/// Waits for the device. The frame and the filter must outlive the result.
std::unique_ptr<ScoredMaxima> scored_maxima(gpu::Arena& arena, const ScoredFrame& scored);

}  // namespace motes::tracking::detect::device
