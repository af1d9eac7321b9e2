#pragma once
/// Why the linker of a series took its motion model.

#include <string>

#include <motes/tracking/series_links.h>

namespace motes::tracking {

/// Neighbours move together where their motion makes links left out of it likelier by more than this, in nats
/// a link.
inline constexpr double kLeastCoherence = 0;

/// Why `automatic` took what it took, in one clause.
std::string reason_of(const SeriesLinks& links);

}  // namespace motes::tracking
