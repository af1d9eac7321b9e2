#pragma once
/// Divisions and merges in the links of a series.

#include <span>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/rounds.h"

namespace motes::tracking::detail {

/// Finds the events that `options` ask for, and cuts links at them. `linked`: the points of `best`, with axes
/// scaled; `log_odds` [linked]: of being a particle; or empty.
void find_events(const Execution& execution, const SeriesOptions& options, SeriesPoints& linked, Rounds& best,
                 std::span<const double> log_odds, SeriesLinks& links);

}  // namespace motes::tracking::detail
