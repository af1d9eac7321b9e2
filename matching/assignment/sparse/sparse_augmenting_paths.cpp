/// Shortest augmenting paths with unmatched costs, on a sparse graph.
///
/// Column j has a dual v_j, which starts at its unmatched cost q_j, only falls, and stays q_j as long as
/// the column is free. Besides its edges, row i has a private exit at cost r_i: being left free. Since v
/// only falls, a row whose exit is its best offer keeps it for good, and a column once matched stays
/// matched.
///
/// Stage 1 (row reduction): a free row takes its cheapest offer c_ij - v_j and lowers v_j until that offer
/// equals its second cheapest; the row that it displaced bids next. Every step keeps u_i + v_j <= c_ij. Price
/// wars of the last rows, and ties, are left to stage 2. Stage 2 (augmentation): Dijkstra's algorithm from
/// each row that is still free, where d_j is the distance to matched column j. A path may end at a free
/// column or at the exit of any row on the way; as soon as the best end known is no farther than the nearest
/// open column, it is the shortest path. The duals of settled columns fall by how much nearer they are.

#include "matching/assignment/sparse/sparse_augmenting_paths.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include <omp.h>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>
#include <motes/base/stop.h>
#include <motes/base/timer.h>

#include "matching/assignment/sparse/components.h"

namespace motes::matching::detail {
namespace {

constexpr Offset kNoEdge = -1;
constexpr Cost kFar = std::numeric_limits<Cost>::max();
/// Budget of stage 1: a bid costs about a third of a settled column, of which a search needs many where rows
/// compete.
constexpr std::int64_t kReductionBidsPerRow = 16;
constexpr int kBidsInARow = 256;
/// Stage 1 ends when fewer than one row in this many is left: the last price wars take more bids than the
/// searches that replace them take columns.
constexpr std::int64_t kFewRows = 50;
constexpr Offset kRowsPerTask = 2048;  ///< small components are handed out together

/// What all components share; each component touches only its own rows and columns.
struct State {
  const Canonical<SparseEntries>& problem;
  std::vector<Cost> v;            ///< [cols]
  std::vector<Offset> row_edge;   ///< [rows] matched edge, or kNoEdge
  std::vector<Index> col_to_row;  ///< [cols]

  const Offset* offsets() const { return problem.entries.offsets; }
  Index col(Offset e) const { return problem.entries.col_index[e]; }
  Cost cost(Offset e) const { return problem.entries.cost[e]; }
  Index col_of(Index row) const {
    const Offset e = row_edge[at(row)];
    return e == kNoEdge ? -1 : col(e);
  }
};

/// Per-thread scratch, valid for the columns whose stamp is the current search's.
struct Scratch {
  explicit Scratch(Index cols)
      : distance(at(cols)), via_edge(at(cols)), via_row(at(cols)), stamp(at(cols), 0) {}
  std::vector<Cost> distance;
  std::vector<Offset> via_edge;
  std::vector<Index> via_row;
  std::vector<std::uint32_t> stamp;  ///< 2 * search: reached, 2 * search + 1: settled
  std::uint32_t search = 0;
  std::vector<std::pair<Cost, Index>> heap;
  std::vector<Index> settled, pending, free_rows, waiting;
};

struct Work {
  std::int64_t bids = 0, searches = 0, settled = 0;
  bool infeasible = false;
};

/// The two cheapest offers of a row, its exit counted among them.
struct Offers {
  Offset best_edge = kNoEdge;  ///< kNoEdge: the exit is best (or there is nothing at all)
  Cost best = kFar, second = kFar;
};

Offers offers_of(const State& state, Index row) {
  Offers offers;
  offers.best = state.problem.exit_of(row);
  for (Offset e = state.offsets()[row], end = state.offsets()[row + 1]; e < end; ++e) {
    const Cost offer = state.cost(e) - state.v[at(state.col(e))];
    if (offer < offers.best) {
      offers.second = offers.best;
      offers.best = offer;
      offers.best_edge = e;
    } else if (offer < offers.second) {
      offers.second = offer;
    }
  }
  return offers;
}

/// One bid of a free row. Returns the row that it displaces, -1 if there is none. A row that cannot bid goes
/// to `pending`.
Index bid(State& state, Index row, std::vector<Index>& pending, Work& work) {
  ++work.bids;
  const Offers offers = offers_of(state, row);
  if (offers.best_edge == kNoEdge) {
    if (offers.best == kInfiniteCost) work.infeasible = true;
    return -1;  // the exit is the best, permanently
  }
  const Index col = state.col(offers.best_edge);
  const Index holder = state.col_to_row[at(col)];
  if (holder != -1 && (offers.best == offers.second || offers.second == kFar)) {
    pending.push_back(row);  // a tie cannot move the price, an only offer has none: let a search decide
    return -1;
  }
  if (offers.second != kFar) state.v[at(col)] -= offers.second - offers.best;
  state.row_edge[at(row)] = offers.best_edge;
  state.col_to_row[at(col)] = row;
  if (holder != -1) state.row_edge[at(holder)] = kNoEdge;
  return holder;
}

/// Stage 1 for the free rows in `now`. The row that a bid displaces bids next, while its offers are likely to
/// be in the cache; after kBidsInARow such bids it waits until all others have bid. Rows that are not settled
/// when few are left, or when the budget is spent, go to `pending`.
void reduce_rows(State& state, std::vector<Index>& now, std::vector<Index>& waiting,
                 std::vector<Index>& pending, Work& work) {
  const std::int64_t first = std::ssize(now);
  std::int64_t budget = kReductionBidsPerRow * first;
  for (; std::ssize(now) * kFewRows > first; now.swap(waiting), waiting.clear())
    for (Index row : now) {
      for (int bids = 0; row != -1 && bids < kBidsInARow && budget > 0; ++bids, --budget)
        row = bid(state, row, pending, work);
      if (row != -1) (budget > 0 ? waiting : pending).push_back(row);
    }
  pending.insert(pending.end(), now.begin(), now.end());
}

/// One Dijkstra search and its augmentation.
class PathSearch {
 public:
  PathSearch(State& state, Scratch& workspace, Work& work) : state_(state), ws_(workspace), work_(work) {}

  void run(Index source) {
    start();
    source_ = source;
    scan(source, 0);
    while (!ws_.heap.empty()) {
      std::pop_heap(ws_.heap.begin(), ws_.heap.end(), std::greater<>());
      const auto [distance, col] = ws_.heap.back();
      ws_.heap.pop_back();
      if (distance >= end_distance_) break;
      if (ws_.stamp[at(col)] == settled_stamp_) continue;  // an older, farther entry
      ws_.stamp[at(col)] = settled_stamp_;
      ws_.settled.push_back(col);
      const Index row = state_.col_to_row[at(col)];
      scan(row, distance - (state_.cost(state_.row_edge[at(row)]) - state_.v[at(col)]));
    }
    ++work_.searches;
    work_.settled += static_cast<std::int64_t>(ws_.settled.size());
    if (end_distance_ == kFar) {
      work_.infeasible = true;
      return;
    }
    for (const Index col : ws_.settled) state_.v[at(col)] -= end_distance_ - ws_.distance[at(col)];
    augment();
  }

 private:
  void start() {
    if (ws_.search == std::numeric_limits<std::uint32_t>::max() / 2 - 1) {
      std::fill(ws_.stamp.begin(), ws_.stamp.end(), 0U);
      ws_.search = 0;
    }
    ++ws_.search;
    reached_stamp_ = 2 * ws_.search;
    settled_stamp_ = reached_stamp_ + 1;
    ws_.heap.clear();
    ws_.settled.clear();
    end_distance_ = kFar;
    end_col_ = end_row_ = -1;
  }

  /// Relaxes the row's edges and its exit; an offer o of the row lies at distance base + o.
  void scan(Index row, Cost base) {
    const Cost exit = state_.problem.exit_of(row);
    if (exit != kInfiniteCost && base + exit < end_distance_) {
      end_distance_ = base + exit;
      end_row_ = row;
      end_col_ = -1;
    }
    for (Offset e = state_.offsets()[row], last = state_.offsets()[row + 1]; e < last; ++e) {
      const Index col = state_.col(e);
      const Cost distance = base + state_.cost(e) - state_.v[at(col)];
      if (distance >= end_distance_) continue;
      const std::uint32_t stamp = ws_.stamp[at(col)];
      if (stamp == settled_stamp_ || (stamp == reached_stamp_ && distance >= ws_.distance[at(col)])) continue;
      ws_.stamp[at(col)] = reached_stamp_;
      ws_.distance[at(col)] = distance;
      ws_.via_edge[at(col)] = e;
      ws_.via_row[at(col)] = row;
      if (state_.col_to_row[at(col)] == -1) {
        end_distance_ = distance;
        end_col_ = col;
        end_row_ = -1;
      } else {
        ws_.heap.emplace_back(distance, col);
        std::push_heap(ws_.heap.begin(), ws_.heap.end(), std::greater<>());
      }
    }
  }

  void augment() {
    Index col = end_col_;
    if (end_row_ != -1) {  // that row goes free; the column it held becomes the path's end
      col = state_.col_of(end_row_);
      state_.row_edge[at(end_row_)] = kNoEdge;
      if (end_row_ == source_) return;
    }
    while (true) {
      const Index row = ws_.via_row[at(col)];
      const Index released = state_.col_of(row);
      state_.row_edge[at(row)] = ws_.via_edge[at(col)];
      state_.col_to_row[at(col)] = row;
      if (row == source_) return;
      col = released;
    }
  }

  State& state_;
  Scratch& ws_;
  Work& work_;
  Index source_ = -1;
  Index end_col_ = -1;  ///< the path ends at this free column ...
  Index end_row_ = -1;  ///< ... or at this row's exit
  Cost end_distance_ = kFar;
  std::uint32_t reached_stamp_ = 0, settled_stamp_ = 0;
};

void solve_component(State& state, Scratch& workspace, std::span<const Index> rows, Work& work,
                     const Stop& stop) {
  workspace.pending.clear();
  workspace.free_rows.clear();
  workspace.waiting.clear();
  for (const Index row : rows)
    if (state.row_edge[at(row)] == kNoEdge) workspace.free_rows.push_back(row);
  reduce_rows(state, workspace.free_rows, workspace.waiting, workspace.pending, work);
  PathSearch search(state, workspace, work);
  for (const Index row : workspace.pending) {
    stop.check();
    if (!work.infeasible) search.run(row);
  }
}

/// Ranges of components for the threads: large components alone and first, small ones together.
std::vector<std::pair<std::int64_t, std::int64_t>> make_tasks(const Components& components) {
  std::vector<std::pair<std::int64_t, std::int64_t>> tasks;
  for (std::int64_t begin = 0; begin < components.count();) {
    std::int64_t end = begin + 1;
    while (end < components.count() &&
           components.offsets[at(end + 1)] - components.offsets[at(begin)] <= kRowsPerTask)
      ++end;
    tasks.emplace_back(begin, end);
    begin = end;
  }
  auto rows_of = [&](const auto& task) {
    return components.offsets[at(task.second)] - components.offsets[at(task.first)];
  };
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](const auto& a, const auto& b) { return rows_of(a) > rows_of(b); });
  return tasks;
}

Work solve_components(const Execution& execution, State& state, const Components& components) {
  const auto tasks = make_tasks(components);
  const int threads = std::max(
      1, std::min(thread_count(execution), static_cast<int>(std::min<std::size_t>(tasks.size(), 1024))));
  std::vector<Work> works(at(threads));
  std::vector<std::unique_ptr<Scratch>> workspaces(at(threads));
  const Stop stop = Stop::of_this_thread();
  for_each_task(threads, std::ssize(tasks), [&](std::int64_t t) {
    const std::size_t me = threads > 1 ? at(omp_get_thread_num()) : 0;
    Work& work = works[me];
    if (!workspaces[me]) workspaces[me] = std::make_unique<Scratch>(state.problem.cols);
    for (std::int64_t c = tasks[at(t)].first; c < tasks[at(t)].second && !work.infeasible; ++c) {
      const Offset begin = components.offsets[at(c)], end = components.offsets[at(c + 1)];
      solve_component(state, *workspaces[me], std::span(components.rows).subspan(at(begin), at(end - begin)),
                      work, stop);
    }
  });
  Work total;
  for (const Work& work : works) {
    total.bids += work.bids;
    total.searches += work.searches;
    total.settled += work.settled;
    total.infeasible = total.infeasible || work.infeasible;
  }
  return total;
}

/// Edge of a pair, which is there.
Offset find_edge(const SparseEntries& entries, Index i, Index j) {
  const Index* begin = entries.col_index + entries.offsets[i];
  return std::lower_bound(begin, entries.col_index + entries.offsets[i + 1], j) - entries.col_index;
}

State start_state(const Canonical<SparseEntries>& problem, const Start& start) {
  if (start.row_to_col.empty() && start.u.empty() && start.v.empty())
    return {problem, problem.start, std::vector<Offset>(at(problem.rows), kNoEdge),
            std::vector<Index>(at(problem.cols), -1)};
  StartState warm = make_start(problem, start);
  State state{problem, std::move(warm.v), std::vector<Offset>(at(problem.rows), kNoEdge),
              std::move(warm.col_to_row)};
  for (Index i = 0; i < problem.rows; ++i)
    if (warm.row_to_col[at(i)] != -1)
      state.row_edge[at(i)] = find_edge(problem.entries, i, warm.row_to_col[at(i)]);
  return state;
}

}  // namespace

Solution solve_by_sparse_paths(const Execution& execution, const Canonical<SparseEntries>& problem,
                               const Start& given) {
  Solution out;
  State state = start_state(problem, given);
  for (const Offset e : state.row_edge) out.stats.initial_assignments += e != kNoEdge;
  const auto start = std::chrono::steady_clock::now();
  const auto& entries = problem.entries;
  const BipartiteGraphView graph{problem.rows,
                                 problem.cols,
                                 {entries.offsets, at(problem.rows) + 1},
                                 {entries.col_index, at(entries.offsets[problem.rows])}};
  const Components components = connected_components(graph);
  const double components_s = seconds_since(start);
  const auto solve_start = std::chrono::steady_clock::now();
  const Work work = solve_components(execution, state, components);
  out.infeasible = work.infeasible;
  out.stats.rounds = work.bids;
  out.stats.augmentations = work.searches;
  out.stats.phases = work.settled;
  out.stats.components = components.count();
  for (std::int64_t c = 0; c < components.count(); ++c)
    out.stats.largest_component = std::max<std::int64_t>(
        out.stats.largest_component, components.offsets[at(c + 1)] - components.offsets[at(c)]);
  out.row_to_col.resize(at(problem.rows));
  for (Index i = 0; i < problem.rows; ++i) out.row_to_col[at(i)] = state.col_of(i);
  out.v = std::move(state.v);
  out.stats.seconds = {{"components", components_s}, {"solve", seconds_since(solve_start)}};
  return out;
}

}  // namespace motes::matching::detail
