/// Counting sort of points into cells.

#include "matching/points/cell_grid.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <motes/base/index.h>

namespace motes::matching::detail {

CellGrid::CellGrid(const double* x, const double* y, const double* z, Index count, double per_cell) {
  const double* axis[3] = {x, y, z};
  double extent[3] = {0, 0, 0}, widest = 0;
  for (int a = 0; a < 3; ++a) {
    if (axis[a] == nullptr || count == 0) continue;
    const auto [least, most] = std::minmax_element(axis[a], axis[a] + count);
    low_[a] = *least;
    extent[a] = std::min(*most - *least, std::numeric_limits<double>::max());
    widest = std::max(widest, extent[a]);
  }
  // The width at which the box has about count / per_cell cells, by bisection.
  const double wanted = std::max(1.0, count / per_cell);
  double narrow = widest / (wanted + 1), wide = widest;
  for (int k = 0; k < 40 && widest > 0; ++k) {
    const double width = (narrow + wide) / 2;
    double cells = 1;
    for (const double e : extent) cells *= std::floor(e / width) + 1;
    (cells > wanted ? narrow : wide) = width;
  }
  inverse_width_ = widest > 0 && std::isfinite(1 / wide) ? 1 / wide : 0;
  for (int a = 0; a < 3; ++a) cells_along_[a] = static_cast<Index>(extent[a] * inverse_width_) + 1;

  const Index cells = cells_along_[0] * cells_along_[1] * cells_along_[2];
  std::vector<Index> cell_of_point(at(count));
  begin_.assign(at(cells) + 1, 0);
  for (int a = 0; a < 3; ++a) {
    up_to_[a].assign(at(cells_along_[a]), -std::numeric_limits<double>::infinity());
    from_[a].assign(at(cells_along_[a]), std::numeric_limits<double>::infinity());
  }
  for (Index p = 0; p < count; ++p) {
    Index along[3];
    for (int a = 0; a < 3; ++a) {
      const double c = axis[a] == nullptr ? 0 : axis[a][p];
      along[a] = cell_of(a, c);
      up_to_[a][at(along[a])] = std::max(up_to_[a][at(along[a])], c);
      from_[a][at(along[a])] = std::min(from_[a][at(along[a])], c);
    }
    cell_of_point[at(p)] = (along[2] * cells_along_[1] + along[1]) * cells_along_[0] + along[0];
    ++begin_[at(cell_of_point[at(p)]) + 1];
  }
  for (int a = 0; a < 3; ++a) {
    for (std::size_t k = 1; k < up_to_[a].size(); ++k)
      up_to_[a][k] = std::max(up_to_[a][k], up_to_[a][k - 1]);
    for (std::size_t k = from_[a].size() - 1; k-- > 0;) from_[a][k] = std::min(from_[a][k], from_[a][k + 1]);
  }
  for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
  std::vector<Index> next(begin_.begin(), begin_.end() - 1);
  id_.resize(at(count));
  for (auto& c : coordinate_) c.assign(at(count), 0);
  for (Index p = 0; p < count; ++p) {
    const Index place = next[at(cell_of_point[at(p)])]++;
    id_[at(place)] = p;
    for (int a = 0; a < 3; ++a)
      if (axis[a] != nullptr) coordinate_[a][at(place)] = axis[a][p];
  }
}

double CellGrid::outside(const Place& from, const Index (&low)[3], const Index (&high)[3]) const {
  const double here[3] = {from.x, from.y, from.z};
  double nearest = std::numeric_limits<double>::infinity();
  for (int a = 0; a < 3; ++a) {
    if (low[a] > 0) nearest = std::min(nearest, std::max(0.0, here[a] - up_to_[a][at(low[a]) - 1]));
    if (high[a] + 1 < cells_along_[a])
      nearest = std::min(nearest, std::max(0.0, from_[a][at(high[a]) + 1] - here[a]));
  }
  return nearest * nearest;
}

bool CellGrid::nearest(const Place& from, Index wanted, double farthest, Index first,
                       std::vector<Found>& out) const {
  out.clear();
  const auto nearer = [&](const Found& a, const Found& b) {
    if (a.squared != b.squared) return a.squared < b.squared;
    const auto turned = [&](Index p) {
      return p >= first ? std::int64_t{p} - first : std::int64_t{p} + size() - first;
    };
    return turned(a.point) < turned(b.point);
  };
  bool all = true;          // whether all points within `farthest` were found
  double limit = farthest;  // largest squared distance of the nearest points so far
  for_each_shell(
      from,
      [&](Index c) {
        const auto [begin, end] = cell(c);
        for (Index p = begin; p < end; ++p) {
          const double squared = squared_to(from, p);
          if (squared > limit) {
            all = all && squared > farthest;
          } else {
            out.push_back({squared, point_at(p)});
          }
        }
      },
      [&](double outside) {
        if (outside > farthest) return false;
        if (static_cast<Index>(out.size()) < wanted) return true;
        const auto last = out.begin() + (wanted - 1);
        std::nth_element(out.begin(), last, out.end(), nearer);
        limit = last->squared;
        if (limit < outside) all = false;
        return limit >= outside;
      });
  if (static_cast<Index>(out.size()) <= wanted) return all;
  std::nth_element(out.begin(), out.begin() + (wanted - 1), out.end(), nearer);
  out.resize(at(wanted));
  return false;
}

}  // namespace motes::matching::detail
