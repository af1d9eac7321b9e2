#pragma once
/// The steps of fitting many spots together (gaussian_fit.cpp), on the CPU and on the GPU with the same bits.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tracking/detect/fit/fit_noise.h"
#include "tracking/detect/fit/gaussian_fit.h"

namespace motes::tracking::detect {

constexpr double kReach = 2.5;              // sigmas from the middle of a window to its sides
constexpr double kTiltReach = 4;            // the same for the window that determines the background's slope
constexpr std::size_t kTiltNeighbours = 4;  // most neighbours of a spot whose background slope is fitted,
// Their least distance in sigmas, since neighbours are not well known yet.
constexpr double kTiltApart = 3.5;
constexpr double kTiltErrors = 4;            // least slope in standard errors
constexpr std::size_t kNoiseWindows = 400;   // most windows from which the noise is estimated,
constexpr std::size_t kNoiseVoxels = 32768;  // and about their total number of voxels
constexpr std::size_t kFewest = 10;          // spots needed for a typical one
constexpr double kMostSplit = 0.45;          // if a larger share would be split, shapes vary and none is

/// Estimates from all spots together.
struct FitAll {
  Noise noise;
  std::array<double, 2> typical{};  ///< ln of the widths
  double excess = 1;                ///< ratio of the gains of all spots to those by chance
};

class FitSteps {
 public:
  virtual ~FitSteps() = default;
  /// Finds, for each spot, the spots whose Gaussians reach into its window.
  virtual void find_neighbours() = 0;
  /// Computes the slope of the background around each spot.
  virtual void begin() = 0;
  /// Fits every spot that has not settled by some steps, with its neighbours fixed. False if all have
  /// settled.
  virtual bool sweep(const Noise& noise, bool widths_held) = 0;
  /// Estimates the noise from the residuals of the windows. `leverage`: correct for the noise that the fit
  /// follows.
  virtual NoiseSums noise(bool leverage) = 0;
  /// Medians of the ln widths of all well-fitted spots; 0 if there are few.
  virtual std::array<double, 2> typical_widths() = 0;
  /// Computes the shape of each well-fitted spot. Returns the median of their gains, or 0.
  virtual double tell_shapes(const FitAll& all) = 0;
  /// Replaces spots by two where these explain the voxels far better. Returns whether any was split.
  virtual bool split_pairs(const FitAll& all) = 0;
  virtual std::vector<FittedSpot> results(const FitAll& all) = 0;
};

std::unique_ptr<FitSteps> fit_on_host(const Execution& execution, const VolumeFrame& frame,
                                      const Filter& filter, std::span<const FitStart> starts,
                                      const FitOptions& options);

/// Voxels from the middle of a window to its sides along x, y, z; and its number of columns, rounded up to a
/// vector.
struct WindowSize {
  std::array<int, 3> half{};
  int width = 16;
};
WindowSize window_size(const Source& source);

/// The noise is estimated from every n-th voxel of the windows, where n is this result.
inline std::size_t noise_stride(std::size_t windows, std::size_t voxels_of_window) {
  const std::size_t stride = windows * voxels_of_window / kNoiseVoxels;
  return stride > 0 ? stride : 1;
}

/// Does what fit_spots does with these steps.
FittedSpots fit_together(FitSteps& steps, std::size_t starts, const FitOptions& options);

}  // namespace motes::tracking::detect
