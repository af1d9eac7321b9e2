#pragma once
/// The steps of fitting many spots together (gaussian_fit.cpp), on the CPU and on the GPU with the same bits.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tracking/detect/fit_noise.h"
#include "tracking/detect/gaussian_fit.h"

namespace motes::tracking::detect {

constexpr double kReach = 2.5;               // sigmas of a window
constexpr double kTiltReach = 4;             // sigmas of the window that tells the background's slope
constexpr std::size_t kTiltNeighbours = 4;   // at most,
constexpr double kTiltApart = 3.5;           // and none nearer, in sigmas: neighbours are not known well yet
constexpr double kTiltErrors = 4;            // slopes beyond chance, in standard errors
constexpr std::size_t kNoiseWindows = 400;   // at most, that tell the noise,
constexpr std::size_t kNoiseVoxels = 32768;  // and about so many of their voxels
constexpr std::size_t kFewest = 10;          // spots to tell the typical one from
constexpr double kMostSplit = 0.45;          // share of spots: more have shapes of their own

/// What is told of all spots together.
struct FitAll {
  Noise noise;
  std::array<double, 2> typical{};  ///< ln widths
  double excess = 1;                ///< of the gains of all spots over chance
};

class FitSteps {
 public:
  virtual ~FitSteps() = default;
  /// Of every spot, those whose Gaussians reach into its window.
  virtual void find_neighbours() = 0;
  /// Tells the slope of the background around each spot.
  virtual void begin() = 0;
  /// Fits every spot that does not rest by some steps, its neighbours held. False where all rest.
  virtual bool sweep(const Noise& noise, bool widths_held) = 0;
  /// From the residuals of the windows; with `leverage` made up for what the fit takes of the noise.
  virtual NoiseSums noise(bool leverage) = 0;
  /// Medians of the widths of all good spots, ln; 0 where there are few.
  virtual std::array<double, 2> typical_widths() = 0;
  /// Tells the shape of each good spot; the median of their gains, or 0.
  virtual double tell_shapes(const FitAll& all) = 0;
  /// Puts two spots in place of one where these explain it far better. Whether any was split.
  virtual bool split_pairs(const FitAll& all) = 0;
  virtual std::vector<FittedSpot> results(const FitAll& all) = 0;
};

std::unique_ptr<FitSteps> fit_on_host(const Execution& execution, const VolumeFrame& frame,
                                      const Filter& filter, std::span<const FitStart> starts,
                                      const FitOptions& options);

/// Voxels either way of a window's middle, x, y, z; and its columns with those that fill up a vector.
struct WindowSize {
  std::array<int, 3> half{};
  int width = 16;
};
WindowSize window_size(const Source& source);

/// Of the voxels of windows, each how-many-th tells the noise.
inline std::size_t noise_stride(std::size_t windows, std::size_t voxels_of_window) {
  const std::size_t stride = windows * voxels_of_window / kNoiseVoxels;
  return stride > 0 ? stride : 1;
}

/// As fit_spots, by these steps.
FittedSpots fit_together(FitSteps& steps, std::size_t starts, const FitOptions& options);

}  // namespace motes::tracking::detect
