#include "tracking/link/large/windows.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include <motes/base/index.h>

#include "tracking/link/series/candidates.h"
#include "tracking/link/series/gap_shares.h"
#include "tracking/link/series/problem.h"

namespace motes::tracking {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

/// A window extends this many times the longest link beyond its core, if there is room, and at least once.
constexpr std::int32_t kLookAhead = 3;

/// Frames [begin, end) of a series; links from those before `core_end` are decided.
struct Window {
  std::int32_t begin = 0, core_end = 0, end = 0;
};

/// `lags`: the largest number of frames of a link, on which the costs of ends depend.
Window window_from(const SeriesPoints& points, std::int32_t begin, std::int64_t at_once, std::int32_t lags) {
  const std::int32_t frames = points.frames();
  const auto size = [&](std::int32_t end) {
    return std::int64_t{points.offset[at(end)]} - points.offset[at(begin)];
  };
  std::int32_t end = begin + 1;
  while (end < frames && size(end + 1) <= at_once) ++end;
  if (end == frames) return {begin, frames, frames};
  // At most a third of the frames is in two windows, unless links are longer.
  const std::int32_t ahead = std::clamp((end - begin) / 3, lags, kLookAhead * lags);
  const std::int32_t core_end = std::max(begin + 1, end - ahead);
  return {begin, core_end, std::min(frames, core_end + ahead)};
}

/// The window's frames as a series.
SeriesPoints part_of(const SeriesPoints& points, const Window& window) {
  SeriesPoints out;
  const auto first = points.offset[at(window.begin)], last = points.offset[at(window.end)];
  const auto copy = [&](const auto& from, auto& to) {
    if (!from.empty()) to.assign(from.begin() + first, from.begin() + last);
  };
  copy(points.at, out.at), copy(points.slot, out.slot), copy(points.hash, out.hash);
  copy(points.log_odds, out.log_odds), copy(points.crowding, out.crowding);
  for (std::int32_t& slot : out.slot) slot -= window.begin;
  for (std::int32_t t = window.begin; t <= window.end; ++t)
    out.offset.push_back(points.offset[at(t)] - first);
  out.density.assign(points.density.begin() + window.begin, points.density.begin() + window.end);
  out.dims = points.dims;
  out.rounded_um = points.rounded_um;
  out.spacing_um = points.spacing_um;
  return out;
}

Prediction part_of(const SeriesPoints& points, const Prediction& prediction, const Window& window) {
  Prediction out;
  for (const std::vector<Vec3>& of_lag : prediction.by_lag)
    out.by_lag.emplace_back(of_lag.begin() + points.offset[at(window.begin)],
                            of_lag.begin() + points.offset[at(window.end)]);
  return out;
}

SeriesLinking part_of(const SeriesPoints& points, const SeriesLinking& linking, const Window& window) {
  SeriesLinking out;
  if (linking.next.size() != points.size()) return out;
  const Index first = points.offset[at(window.begin)], last = points.offset[at(window.end)];
  for (const auto& [from, to] : {std::pair{&linking.next, &out.next}, {&linking.previous, &out.previous}})
    for (Index i = first; i < last; ++i) {
      const Index j = (*from)[at(i)];
      to->push_back(j >= first && j < last ? j - first : -1);
    }
  return out;
}

/// A decided row with edges to columns whose price another window determines.
struct Seam {
  Index row = 0;
  Cost paid = 0, exit = 0;  ///< its cost, without prices; the cost of its end
  Index paid_to = -1;
  std::vector<std::pair<Index, Cost>> edges;
};

class Windows {
 public:
  Windows(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
          const SeriesModel& model, const SeriesLinking& keep, const WindowOptions& options)
      : execution_(execution),
        points_(points),
        prediction_(prediction),
        model_(model),
        keep_(keep),
        options_(options),
        price_(points.size(), kUnknown),
        taken_(points.size(), 0),
        holder_(points.size(), -1) {
    SeriesSolution& s = out_.solution;
    s.linking = SeriesLinking::none(points.size());
    s.used.assign(points.size(), 1);
    s.solver = options.solver;
  }

  WindowedSolution run() {
    for (std::int32_t begin = 0; begin < points_.frames();) {
      const Window window =
          window_from(points_, begin, options_.at_once, std::max(options_.lags, model_.lags()));
      solve(window);
      settle_seams(window.core_end == points_.frames());
      ++out_.windows;
      begin = window.core_end;
    }
    out_.solution.objective = nats_of(objective_);
    out_.solution.verified = options_.verify;
    out_.gap = nats_of(gap_);
    return std::move(out_);
  }

 private:
  static constexpr Cost kUnknown = std::numeric_limits<Cost>::min();

  void solve(const Window& window) {
    const SeriesPoints part = part_of(points_, window);
    SeriesModel model = model_;
    model.scale.assign(model_.scale.begin() + window.begin, model_.scale.begin() + window.end);
    const Prediction prediction = part_of(points_, prediction_, window);
    const SeriesLinking keep = part_of(points_, keep_, window);
    const SeriesCandidates candidates =
        find_candidates(execution_, part, prediction, model, options_.lags, &keep, options_.nats,
                        options_.most, nullptr, window.begin);
    const std::vector<double> costs = candidate_costs(execution_, part, prediction, model, candidates);
    const Index first = points_.offset[at(window.begin)];
    const FreeCosts free = free_costs(part, model, few_frames(points_.frames(), model.lags()), window.begin);
    const matching::SparseCosts all = series_problem(execution_, part, free, candidates, costs);
    const matching::SparseCosts open = without_taken(all, first);
    const matching::Matching answer =
        solve_problem(execution_, open, out_.solution.solver, options_.verify, start_of(open, first));
    decide(window, open, free, answer);
    note_seams(window, open, all, answer);
  }

  /// The problem without edges to taken columns, which stay free at no cost.
  matching::SparseCosts without_taken(const matching::SparseCosts& all, Index first) const {
    const auto taken = [&](Index j) { return taken_[at(first + j)] != 0; };
    matching::SparseCosts out;
    out.graph.rows = all.graph.rows, out.graph.cols = all.graph.cols;
    out.unmatched_row_cost = all.unmatched_row_cost;
    out.unmatched_col_cost = all.unmatched_col_cost;
    out.graph.row_offsets.clear();
    out.graph.row_offsets.reserve(all.graph.row_offsets.size());
    out.graph.row_offsets.push_back(0);
    out.graph.col_index.reserve(all.graph.col_index.size());
    out.cost.reserve(all.cost.size());
    for (Index i = 0; i < all.graph.rows; ++i) {
      if (taken(i)) out.unmatched_col_cost[at(i)] = 0;
      for (Offset e = all.graph.row_offsets[at(i)]; e < all.graph.row_offsets[at(i) + 1]; ++e) {
        if (taken(all.graph.col_index[at(e)])) continue;
        out.graph.col_index.push_back(all.graph.col_index[at(e)]);
        out.cost.push_back(all.cost[at(e)]);
      }
      out.graph.row_offsets.push_back(static_cast<Offset>(out.cost.size()));
    }
    return out;
  }

  /// A start with the prices of the window before, and its links if their columns are not taken.
  matching::Start start_of(const matching::SparseCosts& problem, Index first) {
    if (first == 0) return {};
    start_v_ = problem.unmatched_col_cost;
    start_row_to_col_.assign(start_v_.size(), -1);
    for (std::size_t j = 0; j < start_v_.size(); ++j) {
      const std::size_t column = at(first) + j;
      if (price_[column] == kUnknown || taken_[column] != 0) continue;
      start_v_[j] = std::min(start_v_[j], price_[column]);
      const Index i = holder_[column] - first;
      if (i < 0) continue;
      const auto* const columns = problem.graph.col_index.data();
      if (std::binary_search(columns + problem.graph.row_offsets[at(i)],
                             columns + problem.graph.row_offsets[at(i) + 1], static_cast<Index>(j)))
        start_row_to_col_[at(i)] = static_cast<Index>(j);
    }
    return {start_row_to_col_, {}, start_v_};
  }

  /// Stores the decisions for the window's core, and its prices.
  void decide(const Window& window, const matching::SparseCosts& problem, const FreeCosts& free,
              const matching::Matching& answer) {
    const Index first = points_.offset[at(window.begin)], core = points_.offset[at(window.core_end)] - first;
    SeriesSolution& s = out_.solution;
    for (std::size_t j = 0; j < answer.col_to_row.size(); ++j) {
      if (taken_[at(first) + j] != 0) continue;
      price_[at(first) + j] = answer.duals.v[j];
      holder_[at(first) + j] = answer.col_to_row[j] < 0 ? -1 : first + answer.col_to_row[j];
      if (static_cast<Index>(j) < core && answer.col_to_row[j] < 0)
        objective_ += static_cast<double>(problem.unmatched_col_cost[j]);
    }
    for (Index i = 0; i < core; ++i) {
      const Index j = answer.row_to_col[at(i)];
      s.edges += problem.graph.row_offsets[at(i) + 1] - problem.graph.row_offsets[at(i)];
      if (j < 0) {
        objective_ += static_cast<double>(problem.unmatched_row_cost[at(i)]);
        continue;
      }
      for (Offset e = problem.graph.row_offsets[at(i)]; e < problem.graph.row_offsets[at(i) + 1]; ++e)
        if (problem.graph.col_index[at(e)] == j) objective_ += static_cast<double>(problem.cost[at(e)]);
      if (j == i) {
        if (free.is_false(at(i))) ++s.false_detections, s.used[at(first + i)] = 0;
        continue;
      }
      s.linking.next[at(first + i)] = first + j;
      s.linking.previous[at(first + j)] = first + i;
      if (j >= core) taken_[at(first + j)] = 1;
    }
  }

  /// Stores decided rows with edges to columns of later windows or to taken ones; `all` contains these edges.
  void note_seams(const Window& window, const matching::SparseCosts& problem,
                  const matching::SparseCosts& all, const matching::Matching& answer) {
    const Index first = points_.offset[at(window.begin)], core = points_.offset[at(window.core_end)] - first;
    for (Index i = 0; i < core; ++i) {
      const Offset begin = all.graph.row_offsets[at(i)], end = all.graph.row_offsets[at(i) + 1];
      out_.candidates += end - begin - 1;
      const bool lacks =
          end - begin != problem.graph.row_offsets[at(i) + 1] - problem.graph.row_offsets[at(i)];
      if (!lacks && all.graph.col_index[at(end) - 1] < core) continue;
      const Index j = answer.row_to_col[at(i)];
      Seam seam{first + i,
                all.unmatched_row_cost[at(i)],
                all.unmatched_row_cost[at(i)],
                j < 0 ? -1 : first + j,
                {}};
      for (Offset e = begin; e < end; ++e) {
        seam.edges.emplace_back(first + all.graph.col_index[at(e)], all.cost[at(e)]);
        if (all.graph.col_index[at(e)] == j) seam.paid = all.cost[at(e)];
      }
      seams_.push_back(std::move(seam));
    }
    decided_ = first + core;
  }

  /// Adds to the gap how much rows cost more than their best edge, once all prices of their columns are
  /// known.
  void settle_seams(bool all) {
    std::vector<Seam> later;
    for (Seam& seam : seams_) {
      const bool known = all || std::all_of(seam.edges.begin(), seam.edges.end(), [&](const auto& edge) {
                           return edge.first < decided_ || taken_[at(edge.first)] != 0;
                         });
      if (!known) {
        later.push_back(std::move(seam));
        continue;
      }
      const Cost pays = seam.paid_to < 0 ? seam.exit : seam.paid - price_[at(seam.paid_to)];
      Cost best = seam.exit;
      for (const auto& [column, cost] : seam.edges) best = std::min(best, cost - price_[at(column)]);
      gap_ += static_cast<double>(pays - best);
    }
    seams_ = std::move(later);
  }

  const Execution& execution_;
  const SeriesPoints& points_;
  const Prediction& prediction_;
  const SeriesModel& model_;
  const SeriesLinking& keep_;
  const WindowOptions& options_;
  std::vector<Cost> price_;    ///< [points] price of the column, from a window
  std::vector<char> taken_;    ///< [points] a decided link of an earlier window leads to it
  std::vector<Index> holder_;  ///< [points] row linked to the column
  std::vector<Cost> start_v_;  ///< start prices of the window
  std::vector<Index> start_row_to_col_;
  std::vector<Seam> seams_;
  Index decided_ = 0;               ///< detections before this one are decided
  double objective_ = 0, gap_ = 0;  ///< in cost steps
  WindowedSolution out_;
};

}  // namespace

WindowedSolution solve_windows(const Execution& execution, const SeriesPoints& points,
                               const Prediction& prediction, const SeriesModel& model,
                               const SeriesLinking& keep, const WindowOptions& options) {
  return Windows(execution, points, prediction, model, keep, options).run();
}

}  // namespace motes::tracking
