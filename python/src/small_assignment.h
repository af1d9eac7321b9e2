#pragma once
/// Assignment of small dense matrices of doubles by shortest augmenting paths, with little set-up work.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): column reduction if there are as many columns as rows, then Dijkstra's
/// algorithm from each free row. Their augmenting row reduction is left out, since it takes more time than it
/// saves here. A free column wins a tie.
///
/// Costs are converted to integers of up to 56 bits, and nothing is rounded after that. If the conversion is
/// exact (exact()), so is the answer, however many costs are tied; this holds for random numbers, sums of
/// these, integers, and decimals of similar size. Otherwise rounding errors may miss the optimum, and
/// proves() tells whether the answer is optimal nevertheless. An edge k -> j of the residual graph means that
/// the row of column k can take column j instead; its weight is c_ij - v_j - (c_ik - v_k), which is at least
/// 0 up to a few rounding errors. A free column may replace any column with price 0: the node after the last
/// column joins them. Light edges are those up to a limit so large that one heavier edge outweighs all
/// rounding errors of a cycle. If light edges form no cycle, no cycle is negative, and the answer is optimal;
/// otherwise optimality.h decides.

#include <cstdint>
#include <vector>

#include <motes/base/index.h>

namespace motes::python {

class SmallAssignment {
 public:
  /// Row-major, rows <= cols; finite or +infinity (forbidden). False if no assignment of all rows exists.
  /// `largest`: the largest magnitude of finite costs. `complete`: no pair is forbidden.
  bool solve(const double* costs, Index rows, Index cols, double largest, bool complete);
  /// After solve: whether all costs are multiples of the grid's step, so that the answer is optimal.
  bool exact() const { return exact_; }
  /// After solve: whether the answer is proven optimal. If false, it may still be optimal. `largest`: as in
  /// solve. Fills v.
  bool proves(double largest);

  std::vector<Index> row_to_col, col_to_row;
  std::vector<double> v;  ///< prices of the columns, optimal up to rounding; 0 of free ones

 private:
  const double* costs_row(Index i) const { return costs_ + at(i) * at(cols_); }
  const std::int64_t* row(Index i) const { return grid_.data() + at(i) * width_; }
  void take(Index i, Index j);
  void set_costs(double largest, bool complete);
  void reduce_columns();
  void take_least_offers();
  Index relax(Index from, std::int64_t offset);
  bool augment(Index start);
  bool collect_light_edges(double limit, double& deepest);
  bool light_edges_have_no_cycle();

  const double* costs_ = nullptr;
  Index rows_ = 0, cols_ = 0;
  std::size_t width_ = 0;  ///< of the grid's rows: the columns, padded with forbidden ones to whole vectors
  double scale_ = 1;
  bool exact_ = false;
  std::vector<std::int64_t> grid_, price_;
  std::vector<Index> free_, settled_;
  std::vector<std::int64_t> distance_, parent_;  ///< of the current search
  std::vector<std::int64_t> held_;  ///< 0: free; else the amount that a search adds to the distance
  struct Edge {
    Index from, to;
  };
  std::vector<Edge> edges_;
  std::vector<Index> incoming_, first_, order_, targets_;
};

}  // namespace motes::python
