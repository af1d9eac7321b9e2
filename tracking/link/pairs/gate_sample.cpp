#include "tracking/link/pairs/gate_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include <nanoflann.hpp>

#include <motes/base/parallel_for.h>

namespace motes::tracking {
namespace {

constexpr std::size_t kRowsInAll = 4096, kRowsOfPair = 1024, kMostPairs = 64;
/// The surroundings of the cube have at most this many times as many detections as rows, so that a dense
/// clump beside the cube does not enlarge the sample.
constexpr std::size_t kMostAround = 16;
constexpr double kStepsPerReach = 1 << 20;

struct Point {
  double x, y, z;
};
Point point(const Detections& d, std::size_t k) { return {d.x_um[k], d.y_um[k], d.z_um[k]}; }
void add(Detections& d, const Point& p) {
  d.x_um.push_back(p.x);
  d.y_um.push_back(p.y);
  d.z_um.push_back(p.z);
}
/// Half the side of the smallest cube around `centre` that holds p.
double cube_radius(const Point& p, const Point& centre) {
  return std::max({std::abs(p.x - centre.x), std::abs(p.y - centre.y), std::abs(p.z - centre.z)});
}

/// The interface of nanoflann to detections.
struct Cloud {
  const Detections& d;
  std::size_t kdtree_get_point_count() const { return d.size(); }
  double kdtree_get_pt(std::size_t k, std::size_t axis) const {
    return axis == 0 ? d.x_um[k] : axis == 1 ? d.y_um[k] : d.z_um[k];
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

/// A result set for nanoflann (1.4 and later): points within a limit and their squared distances.
class Within {
 public:
  using DistanceType = double;
  using IndexType = std::size_t;
  using Found = std::vector<std::pair<std::size_t, double>>;

  Within(double squared, Found& found) : squared_(squared), found_(found) { found_.clear(); }
  bool addPoint(double squared, std::size_t k) {
    if (squared < squared_) found_.emplace_back(k, squared);
    return true;
  }
  double worstDist() const { return squared_; }
  std::size_t size() const { return found_.size(); }
  bool empty() const { return found_.empty(); }
  bool full() const { return true; }
  void sort() {}  // not needed: the order of the tree is kept

 private:
  double squared_;
  Found& found_;
};

class Neighbours {
 public:
  explicit Neighbours(const Detections& d) : cloud_{d}, tree_(3, cloud_, {10}) {}

  struct Hit {
    std::size_t index;
    double distance;
  };
  /// The `rank`-th nearest (0 or 1).
  Hit nearest(const Point& p, std::size_t rank = 0) const {
    const std::array<double, 3> query{p.x, p.y, p.z};
    std::array<std::size_t, 2> index{};
    std::array<double, 2> squared{};
    tree_.knnSearch(query.data(), rank + 1, index.data(), squared.data());
    return {index[rank], std::sqrt(squared[rank])};
  }
  void within(const Point& p, double radius, Within::Found& found) const {
    const std::array<double, 3> query{p.x, p.y, p.z};
    Within result(std::nextafter(radius * radius, HUGE_VAL), found);
    tree_.radiusSearchCustomCallback(query.data(), result);
  }

 private:
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 3, std::size_t>;
  Cloud cloud_;
  Tree tree_;
};

/// For each detection, half the side of the smallest cube around the centre that holds it; infinite if its
/// position is not finite (linking will reject it).
std::vector<double> radii_of(const Detections& frame, const Point& centre) {
  std::vector<double> radii(frame.size());
  for (std::size_t k = 0; k < frame.size(); ++k) {
    const Point p = point(frame, k);
    const bool finite = std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
    radii[k] = finite ? cube_radius(p, centre) : HUGE_VAL;
  }
  return radii;
}

/// The least radius that holds `count` detections, or all if there are fewer.
double radius_of(const std::vector<double>& radii, std::size_t count) {
  const auto nth_of = [&](std::vector<double>& values, std::size_t rank) {
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size() - 1));
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
  };
  constexpr std::size_t kEvery = 16;  // a part of a long list gives a first estimate
  std::vector<double> kept;
  if (radii.size() > kEvery * count) {
    for (std::size_t k = 0; k < radii.size(); k += kEvery) kept.push_back(radii[k]);
    const double about = nth_of(kept, 2 * count / kEvery + kEvery);
    kept.clear();
    std::copy_if(radii.begin(), radii.end(), std::back_inserter(kept), [&](double r) { return r <= about; });
  }
  if (kept.size() < count) kept = radii;
  return nth_of(kept, count - 1);
}

/// `wanted`, reduced so that it holds at most `most` detections, but not below `least`.
double limited(const std::vector<double>& radii, double wanted, std::size_t most, double least) {
  const auto inside = std::count_if(radii.begin(), radii.end(), [&](double r) { return r <= wanted; });
  if (static_cast<std::size_t>(inside) <= most) return wanted;
  return std::clamp(radius_of(radii, most), least, wanted);
}

/// The detections in the cube relative to its centre, in the frame's order. If the cube is infinite, all with
/// finite positions.
Detections in_cube(const Detections& frame, const std::vector<double>& radii, const Point& centre,
                   double radius) {
  Detections out;
  for (std::size_t k = 0; k < frame.size(); ++k) {
    if (!(radii[k] <= radius && radii[k] < HUGE_VAL)) continue;
    const Point p = point(frame, k);
    add(out, {p.x - centre.x, p.y - centre.y, p.z - centre.z});
  }
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Pairs of rows and others within reach; `near` is the tree of the others. If both are of one frame, own[i]
/// is the index of row i among the others, which is not a pair.
SampledPairs pairs_between(const Detections& rows, const Detections& others, const Neighbours& near,
                           std::span<const std::size_t> own, double reach_um) {
  SampledPairs out;
  out.unit_um2 = (reach_um / kStepsPerReach) * (reach_um / kStepsPerReach);
  matching::BipartiteGraph& graph = out.costs.graph;
  graph.rows = static_cast<matching::Index>(rows.size());
  graph.cols = static_cast<matching::Index>(others.size());
  Within::Found found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    near.within(point(rows, i), reach_um, found);
    std::sort(found.begin(), found.end());
    for (const auto& [j, squared] : found) {
      if (!own.empty() && own[i] == j) continue;
      graph.col_index.push_back(static_cast<matching::Index>(j));
      out.costs.cost.push_back(std::llround(squared / out.unit_um2));
    }
    graph.row_offsets.push_back(graph.edges());
  }
  return out;
}

GateSample sample_pair(std::size_t f, const Detections& from, const Detections& to) {
  GateSample out;
  out.frame = f;
  out.density_ratio = static_cast<double>(to.size()) / static_cast<double>(from.size());
  const Point centre = point(from, from.size() / 2);
  if (!std::isfinite(centre.x) || !std::isfinite(centre.y) || !std::isfinite(centre.z)) return out;
  const std::vector<double> from_radii = radii_of(from, centre), to_radii = radii_of(to, centre);
  const double radius = radius_of(from_radii, kRowsOfPair);
  const Detections rows = in_cube(from, from_radii, centre, radius);
  out.rows = static_cast<std::int64_t>(rows.size());

  // First the spacing within the cube (slightly too large at its sides), then the detections within reach.
  if (rows.size() > 1) {
    const Neighbours near(rows);
    for (std::size_t k = 0; k < rows.size(); ++k)
      out.spacings.push_back(near.nearest(point(rows, k), 1).distance);
  }
  out.reach_um = kReachPerSpacing * median(out.spacings);
  // The partner of a lone detection is searched everywhere.
  const double wanted = radius + (out.reach_um > 0 ? out.reach_um : HUGE_VAL);
  const std::size_t most = kMostAround * rows.size();
  const double outer = limited(to_radii, limited(from_radii, wanted, most, radius), most, radius);
  if (outer < wanted) out.reach_um = std::min(out.reach_um, outer - radius);
  const Detections around = in_cube(from, from_radii, centre, outer);
  const Detections next = in_cube(to, to_radii, centre, outer);
  if (next.empty()) {
    out.reach_um = 0;
    return out;
  }

  const Neighbours in_next(next), in_around(around);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto there = in_next.nearest(point(rows, k));
    // Compared by distance, not index, since positions on a pixel grid coincide.
    if (in_around.nearest(point(next, there.index)).distance >= there.distance)
      out.displacements.push_back(there.distance);
  }
  if (out.reach_um == 0) return out;
  std::vector<std::size_t> own;
  for (std::size_t k = 0, place = 0; k < from.size(); ++k) {
    if (!(from_radii[k] <= outer && from_radii[k] < HUGE_VAL)) continue;
    if (from_radii[k] <= radius) own.push_back(place);
    ++place;
  }
  out.with_next = pairs_between(rows, next, in_next, {}, out.reach_um);
  out.within = pairs_between(rows, around, in_around, own, out.reach_um);
  return out;
}

}  // namespace

std::vector<GateSample> sample_pairs(int threads, std::span<const Detections> frames) {
  std::vector<std::size_t> pairs;
  std::size_t rows = 0;
  for (std::size_t f = 0; f + 1 < frames.size(); ++f)
    if (!frames[f].empty() && !frames[f + 1].empty()) {
      pairs.push_back(f);
      rows += std::min(frames[f].size(), kRowsOfPair);
    }
  if (pairs.empty()) return {};
  const std::size_t mean = std::max<std::size_t>(1, rows / pairs.size());
  const std::size_t count = std::min({pairs.size(), kMostPairs, (kRowsInAll + mean - 1) / mean});
  std::vector<GateSample> samples(count);
  parallel_for(threads, static_cast<std::int64_t>(count), [&](std::int64_t sample) {
    const auto k = static_cast<std::size_t>(sample);
    const std::size_t f = pairs[k * pairs.size() / count];
    samples[k] = sample_pair(f, frames[f], frames[f + 1]);
  });
  return samples;
}

}  // namespace motes::tracking
