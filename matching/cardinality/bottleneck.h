#pragma once
/// How long edges must be for so many pairs: the smallest threshold on their lengths whose edges still hold a
/// matching of a stated size. At the greatest size this is the bottleneck assignment problem: the longest
/// pair as short as possible.
///
/// Both functions read a sparse problem's costs as the edges' lengths (any sign) and leave its unmatched
/// costs aside; host memory only, else they throw std::invalid_argument, as for a malformed problem.
///
/// Source: Berge, "Two theorems in graph theory", PNAS 43 (1957); thresholds: Garfinkel, "An improved
/// algorithm for the bottleneck assignment problem", Operations Research 19 (1971); one path after the other:
/// Derigs & Zimmermann, "An augmenting path method for solving linear bottleneck assignment problems",
/// Computing 19 (1978). What is ours: shares, all sizes in one forest, and the certificate.

#include <cstdint>
#include <string>
#include <vector>

#include "matching/cardinality/verify.h"
#include "matching/solver.h"

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

struct Bottleneck {
  Cost threshold = 0;        ///< the smallest; 0 where the graph has no edge
  std::int64_t wanted = 0;   ///< pairs that `share` asks for
  std::int64_t maximum = 0;  ///< pairs of the whole graph
  Matching matching;         ///< `wanted` pairs, none longer than the threshold
  VertexCover below;  ///< fewer than `wanted` vertices, which touch every edge shorter than the threshold
  VertexCover whole;  ///< `maximum` vertices, which touch every edge
};

/// The smallest threshold whose edges hold at least `share` (above 0, at most 1, else std::invalid_argument)
/// of the graph's maximum cardinality, rounded up to whole pairs. Share 1: the bottleneck assignment. Which
/// matching proves it may depend on timing, the threshold does not. Bisects the lengths, each maximum
/// matching starting from that of the largest threshold that was too small; a cover of the one and the
/// longest pair of the other spare most of the log2(nnz) tries. O(nnz) a try beside the solver that `auto`
/// would take.
Bottleneck smallest_threshold(const Execution& execution, const SparseCostsView& problem, double share);

/// The first fault of the certificate, in words, trusting nothing but the problem; empty: the threshold is
/// proven to be the smallest for that share. O(rows + cols + nnz).
std::string fault_of(const SparseCostsView& problem, double share, const Bottleneck& answer);

}  // namespace motes::matching
