#pragma once
/// Checks of a series' options and points.

#include <functional>
#include <span>

#include <motes/tracking/series_links.h>

namespace motes::tracking {

namespace detail {

/// Steps that `automatic` skips, because a series with the same motion did not need them.
struct Untried {
  bool pairs = false;  ///< the second start, from links frame to frame
  bool drift = false, rotation = false;
};

/// As the public function, without the steps of `untried`.
SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const Untried& untried,
                        const std::function<void(int)>& done);

}  // namespace detail

/// Throws the UsageErrors of link_series.
void check_options(const SeriesOptions& options);

/// Throws InputError for extreme units of length: costs are limited logarithms of densities, so links would
/// be wrong.
void check_unit(const SeriesPoints& points);

/// Keeps the properties that are asked for, or the first ones. Throws UsageError for one that does not exist.
void choose_properties(const SeriesOptions& options, SeriesPoints& points);

}  // namespace motes::tracking
