#pragma once
/// Explains the choice of the motion model.

#include <string>

#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// Neighbours move together if predictions by other links gain more than this, in nats per link.
inline constexpr double kLeastCoherence = 0;

/// Why `automatic` chose its model, in one clause.
std::string reason_of(const SeriesLinks& links);

}  // namespace motes::tracking
