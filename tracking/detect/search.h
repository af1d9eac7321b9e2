#pragma once
/// The interface of the search for a frame's spots, scale by scale. The CPU and the GPU form give the same
/// bits.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/filter/response.h"
#include "tracking/detect/fit/gaussian_fit.h"
#include "tracking/detect/fit/refine_rules.h"

namespace motes::tracking::detect {

/// Searches one frame. The frame and the options must outlive it.
class SpotSearch {
 public:
  virtual ~SpotSearch() = default;
  virtual ValueRange range() const = 0;

  /// Computes the response at one scale; all functions below use the last response.
  virtual void respond(const Filter& filter) = 0;
  /// Finds the maxima above rounding errors within the mask and returns their number.
  virtual std::size_t find_maxima() = 0;
  /// Responses up to this may be rounding errors.
  virtual float floor() const = 0;
  /// The refined maxima whose quality may be at least `least`, in storage order.
  virtual std::vector<Peak> peaks_from(double least) = 0;
  /// Chooses spots by evidence (choice.h).
  virtual Choice choose() = 0;
  virtual std::vector<Peak> refined(const std::vector<ChosenSpot>& spots) = 0;
  /// As fit_spots.
  virtual FittedSpots fit(std::span<const FitStart> starts, const FitOptions& options) = 0;
  /// `fitted`: [peaks] whether the place of the peak comes from a fit.
  virtual std::vector<Measured> measure(std::span<const Peak> peaks,
                                        std::span<const unsigned char> fitted) = 0;
  /// Adds the times of this search to DetectionReport::device_s.
  virtual void add_times(DetectionReport& report) const = 0;
};

/// The options of the choice, taken from the user's options.
inline ChoiceOptions choice_options(const DetectionOptions& options) {
  return {options.false_positives_per_frame,
          options.mask,
          options.keep_blending,
          options.polarity,
          false,
          options.keep_lines};
}

/// Throws as check_frame does.
std::unique_ptr<SpotSearch> search_on_host(const Execution& execution, const VolumeFrame& frame,
                                           const DetectionOptions& options);

}  // namespace motes::tracking::detect
