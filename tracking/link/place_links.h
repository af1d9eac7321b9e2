#pragma once
/// Links between frames in which many detections coincide.
///
/// Detections of a frame at one grid point, a place, are interchangeable: they have the same candidates at
/// the same costs. So places are linked, each with as many copies as it has detections
/// (motes/matching/transportation.h): candidates are pairs of places, not of their detections, of which there
/// are as many as the square of the copies.

#include <motes/tracking/linker.h>

#include "tracking/candidates/sorted_points.h"

namespace motes::tracking {

/// More than kMostCoincident detections of a frame at one grid point. O(slots + detections in slots that hold
/// more log of these).
bool crowded(const SortedPair& pair);

/// The optimum, as any exact solver's, on one thread. It depends on positions alone, not on their order; of a
/// place's detections the first ones are linked first. Throws ResourceError for more pairs of places than
/// most_candidates. O(detections log detections), and as solve_transportation.
PairLinks link_places(const SortedPair& pair, const Detections& from, const Detections& to,
                      const LinkOptions& options, const CandidateTerms& terms);

}  // namespace motes::tracking
