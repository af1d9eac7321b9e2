#pragma once
/// The detections of a pair of frames, snapped to the grid and sorted by slot of the later frame's table
/// (link_cost.h).

#include <vector>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>
#include <motes/tracking/candidate_graph.h>
#include <motes/tracking/detections.h>

#include "tracking/candidates/candidate_terms.h"
#include "tracking/candidates/link_cost.h"

namespace motes::tracking {

/// A frame's detections by slot.
struct SortedPoints {
  std::vector<matching::Index> starts;  ///< [slots + 1]
  std::vector<GridPoint> points;
  std::vector<matching::Index> detection;  ///< [points] index of each point's detection; rising within a slot

  SlottedPoints view() const { return {starts.data(), points.data()}; }
};

struct SortedPair {
  CellTable table;
  SortedPoints rows, cols;  ///< of the earlier and of the later frame
};

/// Throws InputError as build_candidates does. O(detections).
SortedPair sort_pair(const Detections& from, const Detections& to, const CandidateTerms& terms);

/// As the public build_candidates, for `from` and `to` sorted with `terms`.
CandidateGraph build_candidates(const Execution& execution, const SortedPair& pair, const Detections& from,
                                const Detections& to, const CandidateOptions& options,
                                const CandidateTerms& terms);

}  // namespace motes::tracking
