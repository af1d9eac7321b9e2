#pragma once
/// Times of detect_spots on large volumes, by back end and by stage.

#include <cstdint>
#include <string>
#include <vector>

#include <motes/tracking/volume_frame.h>

namespace motes::bench {

struct VolumeSettings {
  Shape3 shape{64, 512, 512};
  int spots = 10'000;
  int threads = 0, repeats = 5;
  std::vector<std::string> backends{"cpu"};  ///< cpu, cuda, auto
  std::vector<std::string> refines{"parabola", "fit"};
};

/// Prints CSV: one row for each back end and way of refinement, by turns in one run, then the device's
/// stages. Frames are u16: spots of sigma 1.2, 1.2, 1.0 voxels and SNR 7 at random places, noise as of light.
void time_volume(const VolumeSettings& settings);

}  // namespace motes::bench
