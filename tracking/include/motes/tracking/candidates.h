#pragma once
/// Candidate links between two frames: all pairs of detections within the gate.

#include <cstdint>

#include <motes/base/execution.h>
#include <motes/tracking/candidate_graph.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/gate.h>

namespace motes::tracking {

/// The cost of a link: its squared length or its length.
enum class LinkCost { squared, euclidean };

struct CandidateOptions {
  Gate gate;  ///< a pair is a candidate when its distance is at most the gate; there is no default
  LinkCost cost = LinkCost::squared;
  /// Cost of a detection without a partner, for each of the two ends: in um^2 (squared) or um
  /// (euclidean). Negative: the default, gate^2 (or gate).
  double no_link_cost = -1;
  /// Most candidates of one frame pair; 0: as many as a quarter of the machine's memory holds.
  std::int64_t max_candidates = 0;
};

/// Largest no-link cost, in units of gate^2 (or gate).
inline constexpr double kMaxNoLinkGates = 256;

/// Candidates of one frame pair, O(N + edges), parallel, the same for any thread count.
/// Throws InputError for non-finite positions, or ones farther than 2^30 gates from the origin; UsageError
/// for a gate that require_length refuses, or a no-link cost above kMaxNoLinkGates; ResourceError for more
/// than max_candidates.
CandidateGraph build_candidates(const Execution& execution, const Detections& from, const Detections& to,
                                const CandidateOptions& options);

}  // namespace motes::tracking
