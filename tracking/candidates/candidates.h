#pragma once
/// Which detections of the next frame may follow which of this one: all pairs within the gate.

#include "tracking/execution.h"
#include "tracking/types/candidate_graph.h"
#include "tracking/types/detections.h"

namespace motes::tracking {

enum class LinkCost { squared, euclidean };

struct CandidateOptions {
  double gate_um = 0;  ///< a pair is a candidate when its distance is at most the gate
  LinkCost cost = LinkCost::squared;
  /// Price of a detection left without a partner, for each of the two ends: in um^2 (squared) or um
  /// (euclidean). Negative: the default, gate^2 (or gate).
  double no_link_cost = -1;
};

/// Candidates of one frame pair, O(N + edges), parallel, the same for any thread count.
///
/// Positions are snapped to a grid of gate / 2^19 first, so that squared distances are exact integers; the
/// low 16 bits of every cost are a hash of the pair (tie rule), see docs/algorithms.md.
/// Throws InputError for non-finite positions, or ones farther than 2^40 gates from the origin;
/// UsageError for a gate that is not positive, or a no-link cost above 2^8 gate^2.
CandidateGraph build_candidates(const Execution& execution, const Detections& from, const Detections& to,
                                const CandidateOptions& options);

}  // namespace motes::tracking
