#pragma once
/// Links frames in which many detections coincide.
///
/// Detections of a frame at one grid point (a place) are interchangeable: they have the same candidates at
/// the same costs. So places are linked, each with as many copies as it has detections
/// (motes/matching/transportation.h). Candidates are pairs of places instead of pairs of detections, whose
/// number grows with the square of the copies.

#include <motes/tracking/linker.h>

#include "tracking/candidates/sorted_points.h"

namespace motes::tracking {

/// Whether more than kMostCoincident detections of a frame are at one grid point. O(slots + n log n), n the
/// detections in slots with more than kMostCoincident.
bool crowded(const SortedPair& pair);

/// The same optimum as by any exact solver, on one thread. It depends only on positions, not on their order;
/// of the detections of a place the first ones are linked. Throws ResourceError for more pairs of places than
/// most_candidates. O(detections log detections) plus the time of solve_transportation.
PairLinks link_places(const SortedPair& pair, const Detections& from, const Detections& to,
                      const LinkOptions& options, const CandidateTerms& terms);

}  // namespace motes::tracking
