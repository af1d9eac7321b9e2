/// Sorts points by the cells of a grid.

#include "matching/assignment/core/point_order.h"

#include <cstddef>

#include <motes/base/index.h>

#include "matching/points/cell_grid.h"

namespace motes::matching::detail {
namespace {

constexpr double kPointsPerCell = 2;

std::vector<Index> order_of(const double* x, const double* y, const double* z, Index count) {
  const CellGrid grid(x, y, z, count, kPointsPerCell);
  std::vector<Index> order(at(count));
  for (Index k = 0; k < count; ++k) order[at(k)] = grid.point_at(k);
  return order;
}

template <class Values>
auto picked(const Values& values, const std::vector<Index>& order) {
  std::vector<std::decay_t<decltype(values[0])>> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[k] = values[at(order[k])];
  return out;
}

std::vector<Index> inverse(const std::vector<Index>& order) {
  std::vector<Index> out(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) out[at(order[k])] = static_cast<Index>(k);
  return out;
}

}  // namespace

OrderedPoints::OrderedPoints(const Canonical<GeometricEntries>& problem, const Start& start)
    : row_(order_of(problem.entries.row_x, problem.entries.row_y, problem.entries.row_z, problem.rows)),
      col_(order_of(problem.entries.col_x, problem.entries.col_y, problem.entries.col_z, problem.cols)),
      ordered_(problem) {
  GeometricEntries& e = ordered_.entries;
  const auto move_axis = [&](const double*& axis, const std::vector<Index>& order,
                             std::vector<double>& mine) {
    if (axis == nullptr) return;
    mine = picked(axis, order);
    axis = mine.data();
  };
  move_axis(e.row_x, row_, coordinates_[0][0]);
  move_axis(e.row_y, row_, coordinates_[0][1]);
  move_axis(e.row_z, row_, coordinates_[0][2]);
  move_axis(e.col_x, col_, coordinates_[1][0]);
  move_axis(e.col_y, col_, coordinates_[1][1]);
  move_axis(e.col_z, col_, coordinates_[1][2]);
  ordered_.start = picked(problem.start, col_);
  if (!problem.row_exit.empty()) exits_ = picked(problem.row_exit, row_);
  ordered_.row_exit = exits_;

  // A start is in the orientation of the caller's problem.
  const auto& asked_rows = problem.exchanged ? col_ : row_;
  const auto& asked_cols = problem.exchanged ? row_ : col_;
  if (!start.u.empty()) start_u_ = picked(start.u, asked_rows);
  if (!start.v.empty()) start_v_ = picked(start.v, asked_cols);
  if (!start.row_to_col.empty()) {
    start_pairs_ = picked(start.row_to_col, asked_rows);
    const std::vector<Index> place = inverse(asked_cols);
    for (Index& j : start_pairs_)
      if (j != -1) j = place[at(j)];
  }
  start_ = {start_pairs_, start_u_, start_v_};
}

Solution OrderedPoints::restored(Solution&& solution) const {
  Solution out = std::move(solution);
  const std::vector<Index> pairs = std::move(out.row_to_col);
  const std::vector<Cost> v = std::move(out.v);
  out.row_to_col.assign(pairs.size(), -1);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i] != -1) out.row_to_col[at(row_[i])] = col_[at(pairs[i])];
  out.v.resize(v.size());
  for (std::size_t j = 0; j < v.size(); ++j) out.v[at(col_[j])] = v[j];
  return out;
}

}  // namespace motes::matching::detail
