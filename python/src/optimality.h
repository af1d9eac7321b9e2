#pragma once
/// Exact optimality of an assignment whose costs are doubles.
///
/// The solvers of motes::matching work on a grid. Here their answer is checked against the doubles
/// themselves: the answer M is optimal if and only if its residual graph has no negative cycle. Nodes of that
/// graph are the columns and one node s for "unmatched"; an edge k -> j says that the holder of k may take j
/// instead, and weighs c_ij - v_j - (c_ik - v_k) >= 0 up to the grid. Only edges lighter than a limit D are
/// considered: if shortest paths over them span no more than D, the others cannot matter. Sums are formed in
/// 128-bit integers, or in 2240-bit ones where the doubles' exponents span more, so that nothing is rounded.
///
/// Most answers are proven before that: with a D so large that one edge above it outweighs all roundings of a
/// cycle, the edges below it form no cycle at all, unless costs are tied.
///
/// A negative cycle is applied, which improves M, and the search continues, so the result is optimal for any
/// doubles. If costs are tied, all cycles are applied at once (tied_assignment.h). Source of the criterion:
/// Klein, "A primal method for minimal cost flows", Management Science 14 (1967); of the prices:
/// Bellman-Ford, in the queue order of Moore (1959).

#include <cstdint>
#include <limits>
#include <vector>

#include <motes/base/execution.h>
#include <motes/base/index.h>

namespace motes::python {

inline constexpr double kNone = std::numeric_limits<double>::infinity();

/// An answer, and prices that nearly prove it.
struct PricedMatching {
  std::vector<Index> row_to_col, col_to_row;  ///< -1: left alone
  std::vector<double> v;                      ///< [cols]
};

/// Figures of a proof, for reports.
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
  /// pair, without the pairs themselves. `held` [rows], filled: cost of the row's pair, or of being left
  /// alone.
  virtual void entries_within(double reach, const PricedMatching& matching, double* held,
                              std::vector<Entry>& out) const = 0;
  double largest() const { return largest_; }  ///< magnitude of finite costs, unmatched ones included

 protected:
  std::vector<double> row_costs_{kNone}, col_costs_{kNone};  ///< one for all, or one each
  double largest_ = 0;
};

/// Makes M optimal, if it is not. `limit`: D to begin with, above 0. M must be a feasible matching.
Proof prove_optimal(const Execution& execution, const DoubleCosts& costs, PricedMatching& matching,
                    double limit);

}  // namespace motes::python
