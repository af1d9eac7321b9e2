#pragma once
/// Assignment of small dense matrices of doubles by shortest augmenting paths, without anything that costs
/// before the first row is looked at.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): reduction of columns where there are as many as rows, else of rows,
/// augmenting row reduction twice, then Dijkstra's algorithm from each row that is still free. Of equal
/// columns a free one is taken, and of these the first.
///
/// Prices are sums of doubles and round, so that the answer may be off the optimum by some roundings.
/// proves() tells whether it is the optimum all the same. An edge k -> j of the residual graph says that the
/// row of column k may take column j instead, and weighs c_ij - v_j - (c_ik - v_k), which prices keep at 0 or
/// a few roundings below. A free column may stand for any column whose price is 0: the node after the last
/// one joins them. Light edges are those not above a limit so large that one heavier edge outweighs all
/// roundings of a cycle. If light edges form no cycle, no cycle is negative, and the answer is the only
/// optimum or one of several; where they do, optimality.h decides.

#include <cstdint>
#include <vector>

#include <motes/base/index.h>

namespace motes::python {

class SmallAssignment {
 public:
  /// Row-major, rows <= cols; finite or +infinity (forbidden). False where no assignment of all rows exists.
  /// Searches end at a free column up to `tolerance` farther than the nearest one: costs that are tied but
  /// for rounding are not searched for the best of roundings, which proves() would not tell anyway.
  bool solve(const double* costs, Index rows, Index cols, double tolerance);
  /// After solve: the answer is an optimum. `largest`: the largest magnitude of finite costs. False: perhaps.
  bool proves(double largest);

  std::vector<Index> row_to_col, col_to_row;
  std::vector<double> v;  ///< prices of the columns, optimal up to rounding; 0 of free ones

 private:
  const double* row(Index i) const { return costs_ + at(i) * at(cols_); }
  void take(Index i, Index j) { row_to_col[at(i)] = j, col_to_row[at(j)] = i; }
  void reduce_columns();
  void reduce_rows();
  void reduce_free_rows();
  bool augment(Index start);
  Index nearest(double least) const;
  bool collect_light_edges(double limit, double& deepest);
  bool light_edges_have_no_cycle();

  const double* costs_ = nullptr;
  Index rows_ = 0, cols_ = 0;
  double tolerance_ = 0;
  std::vector<Index> free_, later_, settled_;
  std::vector<std::int64_t> parent_;
  /// Of a search; +infinity in `open_` and -infinity in `price_` for settled columns.
  std::vector<double> open_, price_, distance_;
  struct Edge {
    Index from, to;
  };
  std::vector<Edge> edges_;
  std::vector<Index> incoming_, first_, order_, targets_;
};

}  // namespace motes::python
