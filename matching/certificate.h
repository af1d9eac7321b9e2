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
  /// Becomes the other pair if that is one, and comes first in row-major order.
  void keep_first(const Pair& other) {
    if (other && (!*this || other.row < row || (other.row == row && other.col < col))) *this = other;
  }
};

/// Results of a pass over all pairs: the first fault of each kind in row-major order, if any.
struct EdgeFindings {
  std::vector<Cost> matched_cost;  ///< [rows] cost of each matched row's pair; undefined for other rows
  Pair no_edge;                    ///< matched, but forbidden
  Pair infeasible;                 ///< u_i + v_j > c_ij
  Pair loose;                      ///< matched, with u_i + v_j != c_ij
};

/// Whether a pass can index with this answer's matching: lengths agree and every index is in range. Otherwise
/// the findings stay empty.
bool indexable(const CostsView& problem, const Matching& matching);
/// Whether there is a dual for every row and column.
bool has_duals(const CostsView& problem, const Matching& matching);

/// Makes the certificate. The host must be able to read the problem's unmatched costs. O(rows + cols).
Certificate certify(const CostsView& problem, const Matching& matching, const EdgeFindings& findings);

}  // namespace motes::matching::detail
