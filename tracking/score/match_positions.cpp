#include "tracking/score/match_positions.h"

#include <algorithm>
#include <tuple>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/linker.h>

#include "tracking/score/assign.h"
#include "tracking/score/gate_grid.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

using PointNumbers = std::span<const std::int64_t>;

/// The points of a frame in order of position, then of number.
using SortedPoints = std::vector<std::pair<Vec3, std::int64_t>>;

SortedPoints sorted_positions(const TrackSet& tracks, PointNumbers points) {
  SortedPoints sorted;
  sorted.reserve(points.size());
  for (const std::int64_t p : points) sorted.emplace_back(position(tracks, p), p);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.x, a.first.y, a.first.z, a.second) <
           std::tie(b.first.x, b.first.y, b.first.z, b.second);
  });
  return sorted;
}

bool before(const Vec3& a, const Vec3& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); }

/// Matches positions that are exactly equal. True if this matches all found or all true positions; then it is
/// the optimum, and found_to_true is written. (Otherwise equal positions need not be matched in the optimum:
/// shifting a row of points by one can reduce the sum of squared distances.)
bool match_exactly(const SortedPoints& truths, const SortedPoints& founds,
                   std::vector<std::int64_t>& found_to_true) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  auto t = truths.begin();
  auto f = founds.begin();
  while (t != truths.end() && f != founds.end()) {
    if (before(t->first, f->first)) {
      ++t;
    } else if (before(f->first, t->first)) {
      ++f;
    } else {
      pairs.emplace_back((f++)->second, (t++)->second);
    }
  }
  if (pairs.size() < std::min(truths.size(), founds.size())) return false;
  for (const auto& [found_point, true_point] : pairs)
    found_to_true[static_cast<std::size_t>(found_point)] = true_point;
  return true;
}

/// Whether more than kMostCoincident points are at one place.
bool crowded(const SortedPoints& points) {
  for (std::size_t k = kMostCoincident; k < points.size(); ++k)
    if (!before(points[k - kMostCoincident].first, points[k].first)) return true;
  return false;
}

/// The costs: squared distances of all pairs nearer than the gate, and gate^2 for a free end.
RealCosts costs_within_gate(const std::vector<Vec3>& truths, const std::vector<Vec3>& founds, double gate) {
  const GateGrid grid(founds, gate);
  RealCosts costs;
  costs.graph.rows = static_cast<Index>(truths.size());
  costs.graph.cols = static_cast<Index>(founds.size());
  costs.unmatched_row_cost.assign(truths.size(), gate * gate);
  costs.unmatched_col_cost = gate * gate;
  std::vector<std::pair<Index, double>> row;
  for (const Vec3& truth : truths) {
    row.clear();
    grid.for_each_within(
        truth, [&](std::size_t col, double d) { row.emplace_back(static_cast<Index>(col), d * d); });
    std::sort(row.begin(), row.end());
    for (const auto& [col, cost] : row) {
      costs.graph.col_index.push_back(col);
      costs.cost.push_back(cost);
    }
    costs.graph.row_offsets.push_back(costs.graph.edges());
  }
  return costs;
}

void match_within_gate(const TrackSet& truth, const TrackSet& found, PointNumbers true_points,
                       PointNumbers found_points, double gate, std::vector<std::int64_t>& found_to_true) {
  std::vector<Vec3> truths, founds;
  for (const std::int64_t p : true_points) truths.push_back(position(truth, p));
  for (const std::int64_t p : found_points) founds.push_back(position(found, p));
  const std::vector<Index> row_to_col = assign(Execution{1}, costs_within_gate(truths, founds, gate));
  for (std::size_t i = 0; i < row_to_col.size(); ++i)
    if (row_to_col[i] >= 0) found_to_true[motes::at(found_points[motes::at(row_to_col[i])])] = true_points[i];
}

struct Places {
  std::vector<Vec3> where;
  std::vector<Index> copies;
  std::vector<std::size_t> first;  ///< where its points begin among the sorted ones

  explicit Places(const SortedPoints& points) {
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (k == 0 || before(points[k - 1].first, points[k].first)) {
        where.push_back(points[k].first);
        copies.push_back(0);
        first.push_back(k);
      }
      ++copies.back();
    }
  }
};

/// The same if many points coincide. Places are matched, then the first points of each place, so that resting
/// particles keep their partners from frame to frame.
void match_places(const SortedPoints& truths, const SortedPoints& founds, double gate,
                  std::vector<std::int64_t>& found_to_true) {
  const Places rows(truths), cols(founds);
  const RealCosts costs = costs_within_gate(rows.where, cols.where, gate);
  const std::vector<Index> flow = assign_copies(costs, rows.copies, cols.copies);
  std::vector<std::size_t> next_col = cols.first;
  for (std::size_t i = 0; i < rows.where.size(); ++i) {
    std::size_t next_row = rows.first[i];
    for (auto e = motes::at(costs.graph.row_offsets[i]); e < motes::at(costs.graph.row_offsets[i + 1]); ++e)
      for (Index k = 0; k < flow[e]; ++k)
        found_to_true[motes::at(founds[next_col[motes::at(costs.graph.col_index[e])]++].second)] =
            truths[next_row++].second;
  }
}

}  // namespace

std::vector<std::int64_t> match_positions(const Execution& execution, const TrackSet& truth,
                                          const TrackSet& found, const FrameIndex& true_frames, double gate) {
  const FrameIndex found_frames = index_frames(found);
  std::vector<std::int64_t> found_to_true(found.points(), -1);
  parallel_for(thread_count(execution), found_frames.slots(), [&](std::int64_t slot) {
    const PointNumbers found_points = found_frames.points_of_slot(slot);
    const PointNumbers true_points =
        true_frames.points_of_frame(found_frames.frames[static_cast<std::size_t>(slot)]);
    if (true_points.empty()) return;
    const SortedPoints truths = sorted_positions(truth, true_points),
                       founds = sorted_positions(found, found_points);
    if (match_exactly(truths, founds, found_to_true)) return;
    if (crowded(truths) || crowded(founds))
      match_places(truths, founds, gate, found_to_true);
    else
      match_within_gate(truth, found, true_points, found_points, gate, found_to_true);
  });
  return found_to_true;
}

}  // namespace motes::tracking::detail
