#pragma once
/// Links between small frames in which no two detections compete for the same one.

#include <optional>

#include <motes/tracking/linker.h>

#include "tracking/candidates/candidate_terms.h"

namespace motes::tracking {

/// The optimal links if the cheapest candidates of all detections differ: each detection takes its candidate,
/// or stays free if that costs less. The sum of these least costs is a lower bound of the total cost, and is
/// reached. The result is that of the exact solver `jv`, which it names as its solver, without a graph. None
/// if a frame has more than 16 detections, if two choices cost the same (there may be another optimum), or if
/// positions or candidates must be refused. O(detections squared).
std::optional<PairLinks> link_uncontested(const Detections& from, const Detections& to,
                                          const LinkOptions& options, const CandidateTerms& terms);

}  // namespace motes::tracking
