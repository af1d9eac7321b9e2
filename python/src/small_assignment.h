#pragma once
/// Assignment of small dense matrices of doubles by shortest augmenting paths, with hardly any work before
/// the first row.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): column reduction if there are as many columns as rows, then Dijkstra's
/// algorithm from each row that is still free; without their augmenting row reduction, which does not pay
/// here. Of equal columns a free one is taken.
///
/// Costs are converted to integers of up to 56 bits, and nothing is rounded after that. If the conversion
/// rounds nothing either (exact()), the answer is an optimum, however many costs are tied: random numbers,
/// sums of these, integers, decimals of similar size. Otherwise it may be off the optimum by some roundings,
/// and proves() says whether it is the optimum nevertheless. An edge k -> j of the residual graph says that
/// the row of column k may take column j instead, and weighs c_ij - v_j - (c_ik - v_k), which prices keep at
/// 0 or a few roundings below. A free column may stand for any column whose price is 0: the node after the
/// last one joins them. Light edges are those up to a limit so large that one heavier edge outweighs all
/// roundings of a cycle. If light edges form no cycle, no cycle is negative, and the answer is an optimum;
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
  /// After solve: all costs are multiples of the grid's step, and the answer is an optimum.
  bool exact() const { return exact_; }
  /// After solve: the answer is an optimum. `largest` as there. False: perhaps. Fills v.
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
  std::size_t width_ = 0;  ///< of the grid's rows: columns, and forbidden ones up to whole vectors
  double scale_ = 1;
  bool exact_ = false;
  std::vector<std::int64_t> grid_, price_;
  std::vector<Index> free_, settled_;
  std::vector<std::int64_t> distance_, parent_;  ///< of a search
  std::vector<std::int64_t> held_;               ///< 0: free; else what a search adds to the distance
  struct Edge {
    Index from, to;
  };
  std::vector<Edge> edges_;
  std::vector<Index> incoming_, first_, order_, targets_;
};

}  // namespace motes::python
