#pragma once
/// Bottleneck matching: for every size k, the least threshold such that the edges not longer than it
/// contain a matching of k pairs. At the maximum cardinality this is the bottleneck assignment problem,
/// which minimises the longest pair.
///
/// The costs of a sparse problem are taken as edge lengths (of any sign); unmatched costs are ignored. Host
/// memory only. Throws std::invalid_argument for device memory and for a malformed problem.
///
/// Sources: augmenting paths: Berge, "Two theorems in graph theory", PNAS 43 (1957); thresholds: Garfinkel,
/// "An improved algorithm for the bottleneck assignment problem", Operations Research 19 (1971); one
/// augmenting path after another: Derigs & Zimmermann, "An augmenting path method for solving linear
/// bottleneck assignment problems", Computing 19 (1978). That one forest of alternating trees yields all
/// sizes is our addition.

#include <cstdint>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// The least threshold for every size of matching.
struct BottleneckCurve {
  /// [maximum cardinality], non-decreasing: the edges not longer than threshold[k - 1] contain a matching
  /// of k pairs; those shorter than it do not.
  std::vector<Cost> threshold;

  std::int64_t maximum() const { return static_cast<std::int64_t>(threshold.size()); }
  /// The maximum cardinality of a matching of edges not longer than `length`. O(log maximum).
  std::int64_t cardinality_within(Cost length) const;
};

/// Exact; the order of edges of equal length does not matter. One thread. O(E log nnz), where E sums the
/// edges of the augmented tree over all augmentations; at worst O(rows nnz log nnz). Meant for graphs of up
/// to about 10^5 edges. Needs 32 bytes per edge.
BottleneckCurve bottleneck_curve(const SparseCostsView& problem);

}  // namespace motes::matching
