#pragma once
/// What options of a series ask for, where that is possible.

#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// Throws UsageError as link_series says.
void check_options(const SeriesOptions& options);

/// Leaves the properties that are asked for, or the first ones. Throws UsageError for one that is not there.
void choose_properties(const SeriesOptions& options, SeriesPoints& points);

}  // namespace motes::tracking
