#include "tracking/candidates/sorted_points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

namespace motes::tracking {
namespace {

std::vector<GridPoint> snap_all(const Detections& detections, double steps_per_um) {
  std::vector<GridPoint> points(detections.size());
  for (std::size_t k = 0; k < points.size(); ++k)
    if (!snap(detections.x_um[k], steps_per_um, points[k].x) ||
        !snap(detections.y_um[k], steps_per_um, points[k].y) ||
        !snap(detections.z_um[k], steps_per_um, points[k].z))
      refuse_position(detections, k, steps_per_um);
  return points;
}

CellTable table_of(std::span<const GridPoint> points) {
  GridPoint low{0, 0, 0}, high{0, 0, 0};
  for (const GridPoint& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return CellTable::of(static_cast<std::int64_t>(points.size()), low, high);
}

SortedPoints sort_by_slot(std::span<const GridPoint> points, const CellTable& table) {
  SortedPoints out;
  std::vector<std::uint32_t> slots(points.size());
  out.starts.assign(table.slots() + 1, 0);
  for (std::size_t k = 0; k < points.size(); ++k) {
    slots[k] = static_cast<std::uint32_t>(table.slot(points[k]));
    ++out.starts[slots[k] + 1];
  }
  std::partial_sum(out.starts.begin(), out.starts.end(), out.starts.begin());
  std::vector<matching::Index> next(out.starts.begin(), out.starts.end() - 1);
  out.points.resize(points.size());
  out.detection.resize(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto place = static_cast<std::size_t>(next[slots[k]]++);
    out.points[place] = points[k];
    out.detection[place] = static_cast<matching::Index>(k);
  }
  return out;
}

}  // namespace

SortedPair sort_pair(const Detections& from, const Detections& to, const CandidateTerms& terms) {
  const std::vector<GridPoint> columns = snap_all(to, terms.steps_per_um);
  const CellTable table = table_of(columns);
  SortedPoints cols = sort_by_slot(columns, table);
  return {table, sort_by_slot(snap_all(from, terms.steps_per_um), table), std::move(cols)};
}

}  // namespace motes::tracking
