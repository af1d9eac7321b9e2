#pragma once
/// The search for a frame's spots, scale by scale, as the detector's steps ask for it: on the CPU or on the
/// GPU, with the same answers bit for bit.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice.h"
#include "tracking/detect/gaussian_fit.h"
#include "tracking/detect/refine_rules.h"
#include "tracking/detect/response.h"

namespace motes::tracking::detect {

/// Of one frame, which must outlive it, as must the options.
class SpotSearch {
 public:
  virtual ~SpotSearch() = default;
  virtual ValueRange range() const = 0;

  /// Makes the response at one scale; what is asked below is about the last one.
  virtual void respond(const Filter& filter) = 0;
  /// Finds the maxima over rounding errors, within the mask; their number.
  virtual std::size_t find_maxima() = 0;
  /// Responses up to this may be rounding errors.
  virtual float floor() const = 0;
  /// The maxima whose quality may be `least` or more, refined, in storage order.
  virtual std::vector<Peak> peaks_from(double least) = 0;
  /// The maxima that are spots by evidence.
  virtual Choice choose() = 0;
  virtual std::vector<Peak> refined(const std::vector<ChosenSpot>& spots) = 0;
  /// As fit_spots.
  virtual FittedSpots fit(std::span<const FitStart> starts, const FitOptions& options) = 0;
  /// `fitted`: whether each peak has had its place fitted.
  virtual std::vector<Measured> measure(std::span<const Peak> peaks,
                                        std::span<const unsigned char> fitted) = 0;
  /// Adds the times of this search to DetectionReport::device_s.
  virtual void add_times(DetectionReport& report) const = 0;
};

/// What the user's options say of the choice.
inline ChoiceOptions choice_options(const DetectionOptions& options) {
  return {options.false_positives_per_frame, options.mask, options.keep_blending, options.polarity};
}

/// Throws as check_frame.
std::unique_ptr<SpotSearch> search_on_host(const Execution& execution, const VolumeFrame& frame,
                                           const DetectionOptions& options);

}  // namespace motes::tracking::detect
