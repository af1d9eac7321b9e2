#include "tracking/link/events/division_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/radial_density.h>

#include "tracking/link/series/length_windows.h"
#include "tracking/motion/all_nearest.h"
#include "tracking/motion/local_field.h"
#include "tracking/motion/near_points.h"
#include "tracking/score/gate_grid.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Largest distance of daughters from each other, and of the middle between them from where their mother is
/// expected, in spacings.
constexpr double kReach = 4, kFarthestMiddle = 1.25;
/// The scale of links is the median over the surrounding frames that hold this many.
constexpr std::size_t kScaleSample = 100;
constexpr double kLeastScale = 0.005;
constexpr std::size_t kDensityNeighbours = 8;

Vec3 middle_of(const Vec3& a, const Vec3& b) { return 0.5 * (a + b); }

/// The linking in the chosen direction of time.
struct View {
  const SeriesPoints& points;
  const std::vector<Index>& next;
  const std::vector<Index>& previous;
  std::int32_t step;     ///< +1 or -1
  std::vector<Vec3> at;  ///< [points] positions; starts may have those of other starts

  std::int32_t slot(Index i) const { return points.slot[motes::at(i)]; }
  Index link(Index i) const {
    const Index j = next[motes::at(i)];
    return j >= 0 && slot(j) == slot(i) + step ? j : -1;
  }
  bool first(Index i) const { return slot(i) == (step > 0 ? 0 : points.frames() - 1); }
  bool last(Index i) const { return slot(i) == (step > 0 ? points.frames() - 1 : 0); }
  /// Whether i begins a track that continues, or could only continue after the series.
  bool starts(Index i) const {
    return previous[motes::at(i)] < 0 && !first(i) && (next[motes::at(i)] >= 0 || last(i));
  }
  /// Whether i ends a track that began earlier, or could only have begun before the series.
  bool ends(Index i) const {
    return next[motes::at(i)] < 0 && !last(i) && (previous[motes::at(i)] >= 0 || first(i));
  }
};

View view_of(const SeriesPoints& points, const SeriesLinking& linking, Sight sight) {
  const bool back = sight.backwards;
  View view{points, back ? linking.previous : linking.next, back ? linking.next : linking.previous,
            back ? -1 : 1, points.at};
  if (!sight.misplaced) return view;
  std::vector<Index> starts;
  for (Index i = 0; i < static_cast<Index>(points.size()); ++i)
    if (view.starts(i)) starts.push_back(i);
  for (std::size_t k = 0; k < starts.size(); ++k)
    view.at[at(starts[k])] = points.at[at(starts[(k + starts.size() / 2) % starts.size()])];
  return view;
}

/// [points] For each point the mean move of the others; 0 if no other is known.
std::vector<Vec3> moves_of_others(const PointMoves& moves) {
  std::vector<Vec3> out(moves.move.size());
  const Vec3 sum = std::accumulate(moves.move.begin(), moves.move.end(), Vec3{});  // unknown moves are 0
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::size_t others = moves.count - (moves.known[k] != 0 ? 1 : 0);
    if (others > 0) out[k] = (1 / static_cast<double>(others)) * (sum - moves.move[k]);
  }
  return out;
}

DivisionPair pair_of(const View& view, const SeriesLists& lists, std::int32_t t, bool neighbours) {
  const SeriesPoints& points = view.points;
  DivisionPair out;
  out.known = true;
  out.from = points.offset[at(t)], out.from_end = points.offset[at(t) + 1];
  out.to = points.offset[at(t + view.step)], out.to_end = points.offset[at(t + view.step) + 1];
  const std::size_t size = at(out.from_end - out.from);
  PointMoves moves{std::vector<Vec3>(size), std::vector<char>(size, 0), 0};
  for (Index i = out.from; i < out.from_end; ++i) {
    const Index j = view.link(i);
    if (j < 0) continue;
    moves.move[at(i - out.from)] = points.at[at(j)] - points.at[at(i)];
    moves.known[at(i - out.from)] = 1, ++moves.count;
  }
  std::vector<Vec3> field(size);
  Execution one;
  one.threads = 1;
  if (neighbours)
    field = moves.count < kLeastFieldSources
                ? moves_of_others(moves)
                : local_field_among(one, points.frame(t), lists[at(t)], moves, false);
  for (std::size_t k = 0; k < size; ++k) {
    const Index i = out.from + static_cast<Index>(k);
    out.expected.push_back(points.at[at(i)] + field[k]);
    if (moves.known[k] != 0) out.lengths.push_back(length_of(points.at[at(view.link(i))] - out.expected[k]));
  }
  return out;
}

std::int32_t first_frame(const View& view, std::size_t pair) {
  return static_cast<std::int32_t>(view.step > 0 ? pair : pair + 1);
}

/// Scales of links, by frame.
std::vector<double> scales_of(const std::vector<DivisionPair>& pairs, int dims) {
  const LengthWindows windows(
      pairs.size(), [&](std::size_t t) -> const auto& { return pairs[t].lengths; });
  std::vector<double> out(pairs.size(), 0);
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    std::vector<double> sample = windows.around(static_cast<std::int64_t>(t), 0, kScaleSample);
    if (!sample.empty()) out[t] = quantile(sample, 0.5) / student_median(dims);
  }
  return out;
}

/// Number of detections per cubic (square) spacing around a place.
class LocalDensity {
 public:
  LocalDensity(std::span<const Vec3> points, int dims, double spacing)
      : near_(points),
        count_(std::min(points.size(), kDensityNeighbours + 1)),
        dims_(dims),
        spacing_(spacing) {}
  double operator()(const Vec3& place) const {
    std::array<std::size_t, kDensityNeighbours + 1> index{};
    std::array<double, kDensityNeighbours + 1> squared{};
    const std::size_t found = near_.nearest(place, count_, index.data(), squared.data());
    const double radius = found > 0 ? std::sqrt(squared[found - 1]) / spacing_ : 0;
    return found > 1 && radius > 0 ? static_cast<double>(found - 1) / ball_volume(dims_, radius) : 1;
  }

 private:
  NearPoints near_;
  std::size_t count_;
  int dims_;
  double spacing_;
};

/// The candidates of one pair of frames.
std::vector<DivisionCandidate> candidates_of(const View& view, const DivisionPair& pair, double unit,
                                             double scale) {
  std::vector<DivisionCandidate> out;
  const int dims = view.points.dims;
  std::vector<Index> starts;
  std::vector<Vec3> places;
  for (Index j = pair.to; j < pair.to_end; ++j)
    if (view.starts(j)) starts.push_back(j), places.push_back(view.at[at(j)]);
  if (starts.empty() || !(unit > 0)) return out;
  const GateGrid grid(places, kReach * unit);
  const auto later = std::span(view.points.at).subspan(at(pair.to), at(pair.to_end - pair.to));
  const LocalDensity density(later, dims, unit);
  std::vector<double> density_at(starts.size(), 0);  // 0: not known yet
  std::vector<std::size_t> near;
  for (Index i = pair.from; i < pair.from_end; ++i) {
    const Vec3& expected = pair.expected[at(i - pair.from)];
    const Index linked = view.link(i);
    const bool ended = view.ends(i);
    if (linked < 0 && !ended) continue;
    near.clear();
    grid.for_each_within(linked >= 0 ? view.at[at(linked)] : expected,
                         [&](std::size_t s, double) { near.push_back(s); });
    std::sort(near.begin(), near.end());
    const auto add = [&](Index first, const Vec3& place, std::size_t s, bool offered) {
      const Vec3& other = places[s];
      DivisionCandidate c{i, first, starts[s], offered};
      c.middle = length_of(middle_of(place, other) - expected) / unit;
      c.apart = length_of(place - other) / unit;
      if (c.apart >= kReach || c.middle > kFarthestMiddle) return;
      c.residual = length_of(place - expected) / unit;
      c.scale = std::max(scale / unit, kLeastScale);
      if (density_at[s] == 0) density_at[s] = density(other);
      c.density = density_at[s];
      out.push_back(c);
    };
    for (const std::size_t s : near) {
      if (linked >= 0) {
        add(linked, view.at[at(linked)], s, false);
        continue;
      }
      for (const std::size_t other : near)
        if (other != s) add(starts[other], places[other], s, true);
    }
  }
  return out;
}

}  // namespace

std::vector<double> division_spacings(const Execution& execution, const SeriesPoints& points) {
  std::vector<double> out(at(points.frames()), 0);
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    std::vector<double> squared = all_nearest(points.frame(static_cast<std::int32_t>(t)), 2).farthest;
    if (squared.size() > 1) out[at(t)] = std::sqrt(quantile(squared, 0.5));
  });
  return out;
}

DivisionMotion division_motion(const Execution& execution, const SeriesPoints& points,
                               const SeriesLinking& linking, const SeriesLists& lists,
                               const std::vector<double>& spacings, bool neighbours, bool backwards,
                               std::int32_t step) {
  const View view = view_of(points, linking, {.backwards = backwards});
  DivisionMotion out;
  out.pair.resize(at(points.frames() - 1));
  parallel_for(thread_count(execution), (std::ssize(out.pair) + step - 1) / step, [&](std::int64_t k) {
    const auto pair = at(k * step);
    out.pair[pair] = pair_of(view, lists, first_frame(view, pair), neighbours);
  });
  std::vector<double> residuals;
  for (std::size_t k = 0; k < out.pair.size(); ++k)
    for (const double r : out.pair[k].lengths)
      if (const double spacing = spacings[at(first_frame(view, k) + view.step)]; spacing > 0)
        residuals.push_back(r / spacing);
  if (!residuals.empty()) out.residual = quantile(residuals, 0.5);
  return out;
}

DivisionScene division_scene(const Execution& execution, const SeriesPoints& points,
                             const SeriesLinking& linking, const DivisionMotion& motion,
                             const std::vector<double>& spacings, std::span<const double> log_odds,
                             Sight sight) {
  const View view = view_of(points, linking, sight);
  const std::vector<double> scales = scales_of(motion.pair, points.dims);
  std::vector<std::vector<DivisionCandidate>> by_pair(motion.pair.size());
  parallel_for(thread_count(execution), std::ssize(by_pair), [&](std::int64_t k) {
    const std::int32_t later = first_frame(view, at(k)) + view.step;
    by_pair[at(k)] = candidates_of(view, motion.pair[at(k)], spacings[at(later)], scales[at(k)]);
  });
  DivisionScene out;
  out.dims = points.dims;
  for (const auto& candidates : by_pair)
    out.candidates.insert(out.candidates.end(), candidates.begin(), candidates.end());
  out.tracks = {view.previous, view.next, points.slot, points.frames(), view.step < 0};
  for (Index i = 0; i < static_cast<Index>(points.size()); ++i) {
    out.links += view.link(i) >= 0;
    if (view.starts(i)) out.start_points.push_back(i);
    out.ends += view.ends(i);
  }
  out.starts = std::ssize(out.start_points);
  out.odds = odds_classes(out.tracks, out.start_points, log_odds);
  return out;
}

}  // namespace motes::tracking::detail
