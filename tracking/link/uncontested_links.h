#pragma once
/// Links between small frames in which no two detections compete for one: most pairs of long series are such.

#include <optional>

#include <motes/tracking/linker.h>

#include "tracking/candidates/candidate_terms.h"

namespace motes::tracking {

/// The optimum where each detection's cheapest candidate is no other's. Each is linked to it, or left free where
/// that costs less: what every detection pays by itself is a lower bound of the whole cost, and here it is paid.
/// The same answer as the exact solver `jv`, which is what the links name, without a graph and with hardly any
/// memory. None where a frame has more than a few detections, where two choices cost the same (so that
/// another optimum may exist), and where positions or candidates are to be refused. O(detections squared).
std::optional<PairLinks> link_uncontested(const Detections& from, const Detections& to,
                                          const LinkOptions& options, const CandidateTerms& terms);

}  // namespace motes::tracking
