#pragma once
/// True tracks as the linker's input.

#include <cstdint>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/track_set.h>

namespace motes::bench {

/// True tracks turned into detections: detection k of every frame is particle k.
inline std::vector<Detections> frames_of(const TrackSet& truth, std::int32_t frames) {
  std::vector<Detections> out(static_cast<std::size_t>(frames));
  for (std::size_t f = 0; f < out.size(); ++f) out[f].frame = static_cast<std::int32_t>(f);
  for (std::size_t p = 0; p < truth.points(); ++p) {
    Detections& d = out[static_cast<std::size_t>(truth.frame[p])];
    d.x_um.push_back(truth.x_um[p]);
    d.y_um.push_back(truth.y_um[p]);
    d.z_um.push_back(truth.z_um[p]);
  }
  return out;
}

}  // namespace motes::bench
