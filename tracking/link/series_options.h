#pragma once
/// What options of a series ask for, where that is possible.

#include <functional>
#include <span>

#include <motes/tracking/series_links.h>

namespace motes::tracking {

namespace detail {

/// What `automatic` does not try, because a series that moves alike needed none of it.
struct Untried {
  bool pairs = false;  ///< a second start, from the links frame to frame
  bool drift = false, rotation = false;
};

/// As the public one; `untried` comes on top of what the options leave out.
SeriesLinks link_series(const Execution& execution, std::span<const Detections> frames,
                        const SeriesOptions& options, const Untried& untried,
                        const std::function<void(int)>& done);

}  // namespace detail

/// Throws UsageError as link_series says.
void check_options(const SeriesOptions& options);

/// Leaves the properties that are asked for, or the first ones. Throws UsageError for one that is not there.
void choose_properties(const SeriesOptions& options, SeriesPoints& points);

}  // namespace motes::tracking
