/// Successive shortest paths with copies.
///
/// Rows are inserted one after the other; every copy of a row is matched or takes its exit at cost r_i. As in
/// sparse_augmenting_paths.cpp, v_j starts at q_j, only falls, and stays q_j as long as a copy of column j is
/// free. Dijkstra's algorithm from the inserted row settles columns and exits by distance: an edge leads from
/// a row to a column, and an edge with flow leads back, at no reduced cost. A settled column with free copies
/// and a settled exit end a path, along which as many copies move as the path's least flow allows.
///
/// After a path has ended at a column, its tree still holds, unless the path used up the flow of an edge: the
/// column is then full, and the search goes on through it. So a row of many copies fills many columns in one
/// search. Duals change when a search ends, by how much nearer than its end each vertex is.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/stop.h>
#include <motes/matching/transportation.h>

namespace motes::matching {
namespace {

__extension__ typedef __int128 Wide;

constexpr Offset kNoEdge = -1;
constexpr Cost kFar = std::numeric_limits<Cost>::max();

void check_form(const TransportationView& problem) {
  const SparseCostsView& costs = problem.costs;
  const auto fail = [](const char* what) {
    throw std::invalid_argument(std::string("transportation: ") + what);
  };
  if (costs.space != Space::host) fail("the costs are in device memory");
  check_problem(costs);
  if (problem.row_copies.size() != at(costs.graph.rows) || problem.col_copies.size() != at(costs.graph.cols))
    fail("copies are not given for every row and column");
  const auto negative = [](Index copies) { return copies < 0; };
  if (std::any_of(problem.row_copies.begin(), problem.row_copies.end(), negative) ||
      std::any_of(problem.col_copies.begin(), problem.col_copies.end(), negative))
    fail("copies are negative");
  const auto all_finite = [](std::span<const Cost> cost, Index count) {
    return cost.size() == at(count) && std::find(cost.begin(), cost.end(), kInfiniteCost) == cost.end();
  };
  if (!all_finite(costs.unmatched_row_cost, costs.graph.rows) ||
      !all_finite(costs.unmatched_col_cost, costs.graph.cols))
    fail("some vertex must be matched");
}

class Solver {
 public:
  explicit Solver(const TransportationView& problem)
      : costs_(problem.costs),
        free_cols_(problem.col_copies.begin(), problem.col_copies.end()),
        u_(costs_.unmatched_row_cost.begin(), costs_.unmatched_row_cost.end()),
        v_(costs_.unmatched_col_cost.begin(), costs_.unmatched_col_cost.end()),
        flow_(costs_.graph.col_index.size(), 0),
        row_of_(costs_.graph.col_index.size()),
        in_use_(at(costs_.graph.cols)),
        col_distance_(at(costs_.graph.cols), kFar),
        row_distance_(at(costs_.graph.rows), kFar),
        col_edge_(at(costs_.graph.cols), kNoEdge),
        row_edge_(at(costs_.graph.rows), kNoEdge) {
    for (Index i = 0; i < costs_.graph.rows; ++i)
      for (Offset e = begin(i); e < end(i); ++e) row_of_[at(e)] = i;
  }

  /// Matches `copies` copies of row i, or leaves them free.
  void insert(Index i, Index copies) {
    Cost least = costs_.row_cost(i);
    for (Offset e = begin(i); e < end(i); ++e) least = std::min(least, costs_.cost[at(e)] - v_[at(col(e))]);
    u_[at(i)] = least;
    while (copies > 0) copies = search(i, copies);
  }

  Transportation answer(const TransportationView& problem) && {
    Transportation out;
    Wide objective = 0;
    std::vector<Index> free_rows(problem.row_copies.begin(), problem.row_copies.end());
    for (std::size_t e = 0; e < flow_.size(); ++e) {
      free_rows[at(row_of_[e])] -= flow_[e];
      objective += Wide{costs_.cost[e]} * flow_[e];
      out.cardinality += flow_[e];
    }
    for (Index i = 0; i < costs_.graph.rows; ++i) objective += Wide{costs_.row_cost(i)} * free_rows[at(i)];
    for (Index j = 0; j < costs_.graph.cols; ++j) objective += Wide{costs_.col_cost(j)} * free_cols_[at(j)];
    out.objective = static_cast<double>(objective);
    out.flow = std::move(flow_);
    out.duals = {std::move(u_), std::move(v_)};
    out.searches = searches_;
    return out;
  }

 private:
  /// A column to settle, or (from rows on) a row's exit: the nearest first, then the lowest number.
  using Event = std::pair<Cost, std::int64_t>;

  Offset begin(Index i) const { return costs_.graph.row_offsets[at(i)]; }
  Offset end(Index i) const { return costs_.graph.row_offsets[at(i) + 1]; }
  Index col(Offset e) const { return costs_.graph.col_index[at(e)]; }

  void push(Cost distance, std::int64_t what) {
    heap_.emplace_back(distance, what);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

  void reach_row(Index k, Cost distance, Offset via) {
    row_distance_[at(k)] = distance;
    row_edge_[at(k)] = via;
    rows_.push_back(k);
    const Cost exit = distance + (costs_.row_cost(k) - u_[at(k)]);
    if (exit < nearest_exit_) {
      nearest_exit_ = exit;
      push(exit, std::int64_t{costs_.graph.cols} + k);
    }
    for (Offset e = begin(k); e < end(k); ++e) {
      const Index j = col(e);
      const Cost there = distance + (costs_.cost[at(e)] - u_[at(k)] - v_[at(j)]);
      if (there >= nearest_exit_ || there >= col_distance_[at(j)]) continue;
      if (col_distance_[at(j)] == kFar) cols_.push_back(j);
      col_distance_[at(j)] = there;
      col_edge_[at(j)] = e;
      push(there, j);
    }
  }

  /// Moves copies along the tree's path to an edge that ends at a column, or (kNoEdge) to row k's exit.
  /// Returns how many; `broken`: an edge of the path has no flow left.
  Index augment(Offset last, Index k, Index most, bool& broken) {
    for (Index row = last != kNoEdge ? row_of_[at(last)] : k; row_edge_[at(row)] != kNoEdge;) {
      const Offset back = row_edge_[at(row)];
      most = std::min(most, flow_[at(back)]);
      row = row_of_[at(col_edge_[at(col(back))])];
    }
    Offset forward = last;
    for (Index row = last != kNoEdge ? row_of_[at(last)] : k;;) {
      if (forward != kNoEdge) add_flow(forward, most);
      const Offset back = row_edge_[at(row)];
      if (back == kNoEdge) return most;
      broken |= take_flow(back, most);
      forward = col_edge_[at(col(back))];
      row = row_of_[at(forward)];
    }
  }
  void add_flow(Offset e, Index copies) {
    if (flow_[at(e)] == 0) in_use_[at(col(e))].push_back(e);
    flow_[at(e)] += copies;
  }
  bool take_flow(Offset e, Index copies) {
    if ((flow_[at(e)] -= copies) > 0) return false;
    std::erase(in_use_[at(col(e))], e);
    return true;
  }

  /// One tree of shortest paths from row i. Returns how many copies are left to place.
  Index search(Index i, Index copies) {
    ++searches_;
    stop_.check();
    heap_.clear();
    nearest_exit_ = kFar;
    reach_row(i, 0, kNoEdge);
    Cost reached = 0;
    for (bool broken = false; copies > 0 && !broken;) {
      const auto [distance, what] = pop();  // there is the exit of row i at least
      reached = distance;
      if (what >= costs_.graph.cols) {
        copies -= augment(kNoEdge, static_cast<Index>(what - costs_.graph.cols), copies, broken);
        continue;
      }
      const auto j = static_cast<Index>(what);
      if (distance > col_distance_[at(j)]) continue;  // was reached from nearer since
      if (free_cols_[at(j)] > 0) {
        const Index moved = augment(col_edge_[at(j)], -1, std::min(copies, free_cols_[at(j)]), broken);
        copies -= moved;
        free_cols_[at(j)] -= moved;
        if (free_cols_[at(j)] > 0) continue;
      }
      for (const Offset e : in_use_[at(j)])
        if (row_distance_[at(row_of_[at(e)])] == kFar) reach_row(row_of_[at(e)], distance, e);
    }
    for (const Index k : rows_) {
      u_[at(k)] += reached - row_distance_[at(k)];
      row_distance_[at(k)] = kFar;
    }
    for (const Index j : cols_) {
      v_[at(j)] -= std::max<Cost>(0, reached - col_distance_[at(j)]);
      col_distance_[at(j)] = kFar;
    }
    rows_.clear();
    cols_.clear();
    return copies;
  }

  const SparseCostsView& costs_;
  std::vector<Index> free_cols_;                   ///< [cols] free copies
  std::vector<Cost> u_, v_;                        ///< [rows], [cols]
  std::vector<Index> flow_, row_of_;               ///< [nnz]
  std::vector<std::vector<Offset>> in_use_;        ///< [cols] edges with flow
  std::vector<Cost> col_distance_, row_distance_;  ///< [cols], [rows] kFar: not reached
  std::vector<Offset> col_edge_, row_edge_;        ///< [cols], [rows] how each was reached
  std::vector<Index> rows_, cols_;                 ///< reached
  std::vector<Event> heap_;
  Cost nearest_exit_ = kFar;
  std::int64_t searches_ = 0;
  const Stop stop_ = Stop::of_this_thread();
};

/// Rows whose best edge costs least come first: later ones then find columns at the price that leaves
/// them their exits, and their searches end at once.
std::vector<Index> insertion_order(const SparseCostsView& costs) {
  std::vector<Cost> least(at(costs.graph.rows));
  for (Index i = 0; i < costs.graph.rows; ++i) {
    least[at(i)] = 0;
    for (Offset e = costs.graph.row_offsets[at(i)]; e < costs.graph.row_offsets[at(i) + 1]; ++e)
      least[at(i)] = std::min(
          least[at(i)], costs.cost[at(e)] - costs.row_cost(i) - costs.col_cost(costs.graph.col_index[at(e)]));
  }
  std::vector<Index> order(least.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return least[at(a)] < least[at(b)]; });
  return order;
}

}  // namespace

Transportation solve_transportation(const TransportationView& problem) {
  check_form(problem);
  Solver solver(problem);
  for (const Index i : insertion_order(problem.costs)) solver.insert(i, problem.row_copies[at(i)]);
  return std::move(solver).answer(problem);
}

Certificate verify(const TransportationView& problem, const Transportation& answer) {
  check_form(problem);
  const SparseCostsView& costs = problem.costs;
  const auto rows = at(costs.graph.rows), cols = at(costs.graph.cols);
  Certificate out;
  const auto fail = [&](const std::string& what) {
    if (out.fault.empty()) out.fault = what;
    return false;
  };
  if (answer.flow.size() != costs.graph.col_index.size()) {
    fail("flows are not given for every edge");
    return out;
  }
  out.matching_valid = true;
  const bool duals = answer.duals.u.size() == rows && answer.duals.v.size() == cols;
  out.dual_feasible = out.tight = duals || fail("duals are missing or have the wrong length");
  std::vector<std::int64_t> free_rows(problem.row_copies.begin(), problem.row_copies.end());
  std::vector<std::int64_t> free_cols(problem.col_copies.begin(), problem.col_copies.end());
  Wide primal = 0, dual = 0;
  for (std::size_t i = 0; i < rows; ++i)
    for (Offset e = costs.graph.row_offsets[i]; e < costs.graph.row_offsets[i + 1]; ++e) {
      const std::size_t j = at(costs.graph.col_index[at(e)]);
      const Index flow = answer.flow[at(e)];
      const auto edge = [&] { return "(" + std::to_string(i) + ", " + std::to_string(j) + ")"; };
      if (flow < 0) out.matching_valid = fail("the flow of edge " + edge() + " is negative");
      free_rows[i] -= flow;
      free_cols[j] -= flow;
      primal += Wide{costs.cost[at(e)]} * flow;
      if (!duals) continue;
      const Wide slack = Wide{costs.cost[at(e)]} - answer.duals.u[i] - answer.duals.v[j];
      if (slack < 0) out.dual_feasible = fail("duals of edge " + edge() + " exceed its cost");
      if (slack != 0 && flow != 0) out.tight = fail("matched edge " + edge() + " is not tight");
    }
  const auto side = [&](const char* what, const auto& copies, const auto& free,
                        std::span<const Cost> unmatched, const std::vector<Cost>& side_duals) {
    for (std::size_t k = 0; k < copies.size(); ++k) {
      const auto vertex = [&] { return what + std::to_string(k); };
      if (free[k] < 0) out.matching_valid = fail(vertex() + " has fewer copies than are matched");
      primal += Wide{unmatched[k]} * free[k];
      if (!duals) continue;
      dual += Wide{side_duals[k]} * copies[k];
      if (side_duals[k] > unmatched[k])
        out.dual_feasible = fail("dual of " + vertex() + " is above its unmatched cost");
      if (free[k] > 0 && side_duals[k] != unmatched[k])
        out.tight = fail("a free copy of " + vertex() + " is not tight");
    }
  };
  side("row ", problem.row_copies, free_rows, costs.unmatched_row_cost, answer.duals.u);
  side("column ", problem.col_copies, free_cols, costs.unmatched_col_cost, answer.duals.v);
  out.primal = static_cast<double>(primal);
  out.dual = static_cast<double>(dual);
  out.gap = static_cast<double>(primal - dual);
  return out;
}

}  // namespace motes::matching
