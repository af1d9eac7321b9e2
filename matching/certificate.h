#pragma once
/// The part of an optimality certificate that needs no pass over the pairs; shared by CPU and GPU.

#include <vector>

#include <motes/matching/answer.h>
#include <motes/matching/problem.h>
#include <motes/matching/verify.h>

namespace motes::matching::detail {

struct Pair {
  Index row = -1, col = -1;
  explicit operator bool() const { return row != -1; }
};

/// What a pass over all pairs found: the first fault of each kind in row-major order, if any.
struct EdgeFindings {
  std::vector<Cost> matched_cost;  ///< [rows] cost of each matched row's pair, anything for the others
  Pair no_edge;                    ///< matched, but forbidden
  Pair infeasible;                 ///< u_i + v_j > c_ij
  Pair loose;                      ///< matched, with u_i + v_j != c_ij
};

/// A pass may index with this answer's matching: lengths agree, every index lies in range. Where it may not,
/// findings stay empty.
bool indexable(const CostsView& problem, const Matching& matching);
/// There is a dual for every row and column.
bool has_duals(const CostsView& problem, const Matching& matching);

/// The certificate. The problem's unmatched costs must be readable from the host. O(rows + cols).
Certificate certify(const CostsView& problem, const Matching& matching, const EdgeFindings& findings);

}  // namespace motes::matching::detail
