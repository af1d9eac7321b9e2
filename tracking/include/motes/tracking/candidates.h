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
  Gate gate;  ///< a pair is a candidate if its distance is at most the gate; must be set
  LinkCost cost = LinkCost::squared;
  /// Cost of a detection without a partner, in either frame: in um^2 (squared) or um (euclidean). Negative:
  /// the default, gate^2 (or gate).
  double no_link_cost = -1;
  /// Largest number of candidates of one frame pair; 0: as many as fit into a quarter of the machine's
  /// memory.
  std::int64_t max_candidates = 0;
};

/// Largest no-link cost, in units of gate^2 (or gate).
inline constexpr double kMaxNoLinkGates = 256;

/// The candidates of one frame pair: rows are the detections of `from`, columns those of `to`. O(detections +
/// candidates), parallel, the same for any thread count. Throws InputError for positions that are not finite
/// or lie farther than 2^30 gates from the origin; UsageError for a gate that require_length refuses, or a
/// no-link cost above kMaxNoLinkGates; ResourceError for more candidates than max_candidates.
CandidateGraph build_candidates(const Execution& execution, const Detections& from, const Detections& to,
                                const CandidateOptions& options);

}  // namespace motes::tracking
