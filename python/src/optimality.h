#pragma once
/// Exact optimality of an assignment whose costs are doubles.
///
/// The solvers of motes::matching round costs to a grid. This file checks their answer against the doubles
/// themselves: an answer M is optimal if and only if its residual graph has no negative cycle. The nodes of
/// that graph are the columns and one node s for "unmatched". An edge k -> j means that the row i of column k
/// can take j instead; its weight is c_ij - v_j - (c_ik - v_k), which is >= 0 up to the grid's step. Only
/// edges lighter than a limit D are considered: if shortest paths over them span no more than D, the others
/// cannot matter. Sums are exact, in 128-bit integers, or in 2240-bit ones if the doubles' exponents span
/// more.
///
/// Most answers are proven earlier: with a D so large that one edge above it outweighs all rounding
/// errors of a cycle, the edges below it form no cycle at all, unless costs are tied.
///
/// If there is a negative cycle, it is applied, which improves M, and the search continues, so the result is
/// optimal for any doubles. If costs are tied, all cycles are applied at once (tied_assignment.h). Source of
/// the criterion: Klein, "A primal method for minimal cost flows", Management Science 14 (1967); of the
/// prices: Bellman-Ford, in the queue order of Moore (1959).

#include <cstdint>
#include <limits>
#include <vector>

#include <motes/base/execution.h>
#include <motes/base/index.h>

namespace motes::python {

inline constexpr double kNone = std::numeric_limits<double>::infinity();

/// An answer, with prices that are optimal up to rounding.
struct PricedMatching {
  std::vector<Index> row_to_col, col_to_row;  ///< -1: unmatched
  std::vector<double> v;                      ///< [cols]
};

/// Figures about a proof, for reports.
struct Proof {
  std::int64_t turned = 0;  ///< negative cycles applied; 0 if the solver's answer was optimal
  bool wide = false;        ///< 128 bits did not suffice
};

/// The interface of a problem for prove_optimal. Costs of forbidden pairs, and unmatched costs of vertices
/// that must be matched, are +infinity.
class DoubleCosts {
 public:
  struct Entry {
    Index row, col;
    double cost;
  };
  virtual ~DoubleCosts() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual double cost(Index row, Index col) const = 0;  ///< of an allowed pair
  double row_cost(Index row) const { return row_costs_.size() == 1 ? row_costs_[0] : row_costs_[at(row)]; }
  double col_cost(Index col) const { return col_costs_.size() == 1 ? col_costs_[0] : col_costs_[at(col)]; }
  /// Appends, row by row, the allowed entries whose cost - v[col] is at most `reach` above that of the row's
  /// pair, without the pairs themselves. Fills `held` [rows] with the cost of each row's pair, or its
  /// unmatched cost.
  virtual void entries_within(double reach, const PricedMatching& matching, double* held,
                              std::vector<Entry>& out) const = 0;
  double largest() const { return largest_; }  ///< magnitude of finite costs, unmatched ones included

 protected:
  std::vector<double> row_costs_{kNone}, col_costs_{kNone};  ///< one for all, or one each
  double largest_ = 0;
};

/// Makes the feasible matching M optimal, if it is not. `limit` > 0: the first value of D.
Proof prove_optimal(const Execution& execution, const DoubleCosts& costs, PricedMatching& matching,
                    double limit);

}  // namespace motes::python
