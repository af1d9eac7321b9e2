#pragma once
/// How long edges must be for so many pairs: the smallest threshold on their lengths whose edges still hold a
/// matching of a stated size. At the greatest size this is the bottleneck assignment problem: the longest
/// pair as short as possible.
///
/// A sparse problem's costs are read as the edges' lengths (any sign); unmatched costs are ignored. Host memory
/// only. Throws std::invalid_argument for device memory and for a malformed problem.
///
/// Source: Berge, "Two theorems in graph theory", PNAS 43 (1957); thresholds: Garfinkel, "An improved
/// algorithm for the bottleneck assignment problem", Operations Research 19 (1971); one path after the other:
/// Derigs & Zimmermann, "An augmenting path method for solving linear bottleneck assignment problems",
/// Computing 19 (1978). Ours: all sizes in one forest.

#include <cstdint>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// The smallest threshold of every size of matching.
struct BottleneckCurve {
  /// [maximum cardinality] never falling: edges not longer than threshold[k - 1] hold k pairs, shorter ones
  /// do not.
  std::vector<Cost> threshold;

  std::int64_t maximum() const { return static_cast<std::int64_t>(threshold.size()); }
  /// The maximum cardinality among edges not longer than `length`. O(log maximum).
  std::int64_t cardinality_within(Cost length) const;
};

/// Exact, and the same whatever the order of equal lengths. One thread; O(sum over the augmentations of the
/// edges of the tree that is augmented, times log nnz), at most O(rows nnz log nnz): meant for graphs of up
/// to some 10^5 edges, as samples are. Needs 32 bytes an edge.
BottleneckCurve bottleneck_curve(const SparseCostsView& problem);

}  // namespace motes::matching
