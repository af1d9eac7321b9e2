#pragma once
/// The options in grid steps, and the errors for bad input; shared by CPU and GPU.

#include <cstddef>
#include <cstdint>

#include <motes/tracking/candidates.h>

namespace motes::tracking {

struct CandidateTerms {
  double steps_per_um = 0;
  double cost_unit = 1;          ///< one cost step in um^2 (or um)
  matching::Cost free_cost = 0;  ///< cost of an unmatched detection of either frame
};

/// Throws UsageError for a gate that require_length refuses, or a no-link cost above kMaxNoLinkGates.
CandidateTerms terms_of(const CandidateOptions& options);

/// Throws InputError that names the frame, detection k and its first coordinate outside the grid.
[[noreturn]] void refuse_position(const Detections& detections, std::size_t k, double steps_per_um);

/// options.max_candidates, or the number that fits into a quarter of the machine's memory.
std::int64_t most_candidates(const CandidateOptions& options);

/// Throws the ResourceError for more than `most` candidates.
[[noreturn]] void refuse_candidates(const Detections& from, const Detections& to, const Gate& gate,
                                    std::int64_t most);

}  // namespace motes::tracking
