#include "tracking/score/match_positions.h"

#include <algorithm>
#include <tuple>

#include <motes/base/parallel_for.h>

#include "tracking/score/assign.h"
#include "tracking/score/gate_grid.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

using PointNumbers = std::span<const std::int64_t>;

std::vector<std::pair<Vec3, std::int64_t>> sorted_positions(const TrackSet& tracks, PointNumbers points) {
  std::vector<std::pair<Vec3, std::int64_t>> sorted;
  sorted.reserve(points.size());
  for (const std::int64_t p : points) sorted.emplace_back(position(tracks, p), p);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.first.x, a.first.y, a.first.z, a.second) <
           std::tie(b.first.x, b.first.y, b.first.z, b.second);
  });
  return sorted;
}

bool before(const Vec3& a, const Vec3& b) { return std::tie(a.x, a.y, a.z) < std::tie(b.x, b.y, b.z); }

/// Matches positions that are exactly equal. True when that leaves no found or no true position over: the sum
/// is then as small as it can be. (Otherwise an exact pair need not belong to the optimum: squared distances
/// can gain by shifting a row of points by one.) Writes found_to_true only in that case.
bool match_exactly(const TrackSet& truth, const TrackSet& found, PointNumbers true_points,
                   PointNumbers found_points, std::vector<std::int64_t>& found_to_true) {
  const auto truths = sorted_positions(truth, true_points), founds = sorted_positions(found, found_points);
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

void match_within_gate(const TrackSet& truth, const TrackSet& found, PointNumbers true_points,
                       PointNumbers found_points, double gate, std::vector<std::int64_t>& found_to_true) {
  std::vector<Vec3> at;
  at.reserve(found_points.size());
  for (const std::int64_t p : found_points) at.push_back(position(found, p));
  const GateGrid grid(at, gate);

  RealCosts costs;
  costs.graph.rows = static_cast<Index>(true_points.size());
  costs.graph.cols = static_cast<Index>(found_points.size());
  costs.unmatched_row_cost.assign(true_points.size(), gate * gate);
  costs.unmatched_col_cost = gate * gate;
  std::vector<std::pair<Index, double>> row;
  for (const std::int64_t p : true_points) {
    row.clear();
    grid.for_each_within(position(truth, p), [&](std::size_t col, double d) {
      row.emplace_back(static_cast<Index>(col), d * d);
    });
    std::sort(row.begin(), row.end());
    for (const auto& [col, cost] : row) {
      costs.graph.col_index.push_back(col);
      costs.cost.push_back(cost);
    }
    costs.graph.row_offsets.push_back(costs.graph.edges());
  }
  const std::vector<Index> row_to_col = assign(Execution{1}, costs);
  for (std::size_t i = 0; i < row_to_col.size(); ++i)
    if (row_to_col[i] >= 0)
      found_to_true[static_cast<std::size_t>(found_points[static_cast<std::size_t>(row_to_col[i])])] =
          true_points[i];
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
    if (!match_exactly(truth, found, true_points, found_points, found_to_true))
      match_within_gate(truth, found, true_points, found_points, gate, found_to_true);
  });
  return found_to_true;
}

}  // namespace motes::tracking::detail
