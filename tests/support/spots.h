#pragma once
/// Small fluorescence-like frames with known spot positions, for the detector's tests and benchmark.
/// Independent of sim/, so that neither checks itself.

#include <cstdint>
#include <vector>

#include <motes/tracking/detections.h>
#include <motes/tracking/volume_frame.h>

namespace motes::testing {

struct Spot {
  double z = 0, y = 0, x = 0;  ///< voxels
};

struct SpotFrameOptions {
  Shape3 shape{10, 512, 512};
  Vec3 psf_sigma{1.2, 1.2, 1.0};  ///< voxels, x y z
  double background = 10;         ///< photons a voxel
  double peak = 100;              ///< photons above background at a spot's centre; negative: dark spots
};

/// Spots uniform over the volume between the first and the last voxel's centre.
std::vector<Spot> random_spots(const Shape3& shape, int count, std::uint64_t seed);

/// Expected photons: background plus Gaussians sampled at voxel centres (cut at 5 sigma); x fastest.
std::vector<double> expected_photons(const SpotFrameOptions& options, const std::vector<Spot>& spots);

/// Float frame (voxel 1 um, frame 0) holding `values`.
VolumeFrame float_frame(const Shape3& shape, const std::vector<double>& values);

/// The frame a photon counter would take: a Poisson draw of every voxel, u16.
VolumeFrame poisson_frame(const Shape3& shape, const std::vector<double>& expected, std::uint64_t seed);

/// Peak photons p with p / sqrt(p + background) = snr: the SNR of the Particle Tracking Challenge.
double peak_of_snr(double snr, double background);

struct SpotScore {
  double jsc = 0;         ///< TP / (TP + FN + FP)
  double rmse_voxel = 0;  ///< over the matched ones
  int matched = 0;
};

/// Greedy one-to-one matching in order of distance, below `gate` voxels.
SpotScore score_spots(const std::vector<Spot>& truth, const Detections& found, const Vec3& voxel_um,
                      double gate);

}  // namespace motes::testing
