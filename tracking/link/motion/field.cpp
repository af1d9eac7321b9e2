#include "tracking/link/motion/field.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/tracking/series_assignment.h>

#include "tracking/link/series/candidates.h"
#include "tracking/link/series/rounding.h"
#include "tracking/motion/local_field.h"
#include "tracking/motion/near_points.h"
#include "tracking/motion/rigid_search.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr int kRoundsOfPair = 5;
constexpr double kFirstScalePerSpacing = 0.25, kLeastScalePerSpacing = 0.005;
/// Weight of the pairs before in the scale of the next one.
constexpr double kMemory = 0.7;
/// A pair is finished when fewer links than this share change.
constexpr double kSettledShare = 0.002;
constexpr std::size_t kPointsWorthThreads = 20'000;
/// If particles move more than kLargeSteps spacings, and there are at most kMostForStarts detections, each
/// pair is linked from several starts.
constexpr double kLargeSteps = 0.25;
constexpr std::size_t kMostForStarts = 100'000;
/// The scale of a start comes from this many pairs before and after.
constexpr std::int32_t kScalesAround = 3;
/// Each detection has at most kMostLikely candidates, within kLikelyNats of its most likely one.
constexpr std::size_t kMostLikely = 20;
constexpr double kLikelyNats = 12;
/// Least number of links for a scale.
constexpr std::size_t kLeastForScale = 8;
/// Number of successive pairs of frames in which links with and without a field are compared, or as many as
/// have kEnoughToTell detections.
constexpr std::int32_t kPairsToTell = 5;
constexpr std::size_t kEnoughToTell = 3000;
/// A start replaces another one if it gains this many nats.
constexpr double kLikelier = 1e-6;

/// Links over one frame as displaced points.
struct Moves {
  std::vector<Vec3> from, to, move;
};

void add_move(Moves& moves, const Vec3& from, const Vec3& to) {
  moves.from.push_back(from);
  moves.to.push_back(to);
  moves.move.push_back({to.x - from.x, to.y - from.y, to.z - from.z});
}

Moves moves_of_pair(const SeriesPoints& pair, const SeriesLinking& linking) {
  Moves out;
  for (Index i = 0; i < pair.offset[1]; ++i)
    if (const Index j = linking.next[at(i)]; j >= 0) add_move(out, pair.at[at(i)], pair.at[at(j)]);
  return out;
}

/// Displacements to the next frame, by the detection where the link starts.
PointMoves moves_from(const SeriesPoints& points, const SeriesLinking& linking, std::int32_t t) {
  const auto begin = at(points.offset[at(t)]), size = points.frame(t).size();
  PointMoves out{std::vector<Vec3>(size), std::vector<char>(size, 0), 0};
  for (std::size_t k = 0; k < size; ++k) {
    const Index j = linking.next[begin + k];
    if (j < 0 || points.slot[at(j)] != t + 1) continue;
    out.move[k] = points.at[at(j)] - points.at[begin + k];
    out.known[k] = 1, ++out.count;
  }
  return out;
}

/// Displacements in a pair of frames, by the detection where the link ends.
PointMoves moves_to(const SeriesPoints& pair, const SeriesLinking& linking) {
  const auto size = pair.frame(1).size();
  PointMoves out{std::vector<Vec3>(size), std::vector<char>(size, 0), 0};
  for (Index i = 0; i < pair.offset[1]; ++i) {
    const Index j = linking.next[at(i)];
    if (j < 0) continue;
    out.move[at(j - pair.offset[1])] = pair.at[at(j)] - pair.at[at(i)];
    out.known[at(j - pair.offset[1])] = 1, ++out.count;
  }
  return out;
}

/// [frames] 1 if the next detection of any detection of the frame changed.
std::vector<char> changed_frames(const SeriesPoints& points, const SeriesLinking& now,
                                 const SeriesLinking& before) {
  std::vector<char> out(at(points.frames()), 0);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (now.next[i] != before.next[i]) out[at(points.slot[i])] = 1;
  return out;
}

/// Frames t and t + 1 as a series.
SeriesPoints pair_of(const SeriesPoints& points, std::int32_t t) {
  SeriesPoints out;
  const auto begin = points.offset[at(t)], middle = points.offset[at(t) + 1], end = points.offset[at(t) + 2];
  out.at.assign(points.at.begin() + begin, points.at.begin() + end);
  out.hash.assign(points.hash.begin() + begin, points.hash.begin() + end);
  out.slot.assign(at(middle - begin), 0);
  out.slot.resize(at(end - begin), 1);
  out.offset = {0, middle - begin, end - begin};
  out.density = {points.density[at(t)], points.density[at(t) + 1]};
  out.dims = points.dims;
  out.rounded_um = points.rounded_um;
  out.spacing_um = std::pow(out.density[0], -1.0 / out.dims);
  return out;
}

}  // namespace

SeriesLists::SeriesLists(const SeriesPoints& points)
    : points_(&points), frames_(std::make_unique<Frame[]>(at(std::max(0, points.frames())))) {}

const NearLists& SeriesLists::operator[](std::size_t frame) const {
  Frame& one = frames_[frame];
  std::call_once(one.once, [&] { one.lists = NearLists(points_->frame(static_cast<std::int32_t>(frame))); });
  return one.lists;
}

void SeriesLists::make(const Execution& execution) const {
  parallel_for(thread_count(execution), points_->frames(), [&](std::int64_t t) { (*this)[at(t)]; });
}

namespace {

/// Finds the detection of a frame nearest to a place, from the neighbour lists of a guess, or with a tree.
class Nearest {
 public:
  Nearest(std::span<const Vec3> frame, const NearLists& lists) : frame_(frame), lists_(lists) {}

  /// `guess`: a detection of the frame that may be near, or -1.
  std::size_t of(const Vec3& place, std::ptrdiff_t guess) {
    if (guess >= 0)
      if (const std::ptrdiff_t found = by_list(place, static_cast<std::size_t>(guess)); found >= 0)
        return static_cast<std::size_t>(found);
    if (!tree_) tree_ = std::make_unique<NearPoints>(frame_);
    std::size_t nearest = 0;
    double squared = 0;
    tree_->nearest(place, 1, &nearest, &squared);
    return nearest;
  }

 private:
  /// Detections beyond the guess's list are at least the list's radius minus the guess's distance from the
  /// place. -1 if that does not prove which is nearest.
  std::ptrdiff_t by_list(const Vec3& place, std::size_t guess) const {
    const double off = length_of(frame_[guess] - place);
    double best = std::numeric_limits<double>::infinity(), enough = best;  // both squared
    std::ptrdiff_t nearest = -1;
    for (const std::int32_t near : lists_.of(guess)) {
      const auto k = static_cast<std::size_t>(near);
      if (squared_length(frame_[k] - frame_[guess]) > enough) return nearest;
      const double distance = squared_length(frame_[k] - place);
      if (distance < best) {
        best = distance, nearest = near;
        enough = (std::sqrt(best) + off) * (std::sqrt(best) + off) * kSlack;
      } else if (distance == best && near < nearest) {
        nearest = near;
      }
    }
    return lists_.complete() ? nearest : -1;
  }

  static constexpr double kSlack = 1 + 1e-9;  ///< for rounding
  std::span<const Vec3> frame_;
  const NearLists& lists_;
  std::unique_ptr<NearPoints> tree_;
};

}  // namespace

Prediction predict_by_field(const Execution& execution, const SeriesPoints& points, const SeriesLists& lists,
                            const SeriesLinking& linking, int lags, Prediction before,
                            const SeriesLinking& of_before) {
  const std::int32_t frames = points.frames();
  Prediction out = std::move(before);
  std::vector<char> changed(at(frames), 1);
  if (out.by_lag.size() == at(lags) && of_before.next.size() == points.size())
    changed = changed_frames(points, linking, of_before);
  else
    out.by_lag.assign(at(lags), std::vector<Vec3>(points.size()));
  // Frames in parallel, one thread for each.
  Execution one = execution;
  one.threads = 1;
  parallel_for(thread_count(execution), frames - 1, [&](std::int64_t slot) {
    const auto t = static_cast<std::int32_t>(slot);
    if (changed[at(t)] == 0) return;
    const auto begin = at(points.offset[at(t)]);
    const PointMoves moves = moves_from(points, linking, t);
    const auto field = moves.count < kLeastFieldSources
                           ? std::vector<Vec3>(moves.move.size())
                           : local_field_among(one, points.frame(t), lists[at(t)], moves, false);
    std::copy(field.begin(), field.end(), out.by_lag[0].begin() + static_cast<std::ptrdiff_t>(begin));
  });
  // Over more frames: from the predicted place on, with the field of the nearest detection there.
  std::vector<char> stale = changed;
  for (int lag = 2; lag <= lags; ++lag) {
    for (std::int32_t t = 0; t + lag - 1 < frames; ++t)
      if (changed[at(t + lag - 1)] != 0) stale[at(t)] = 1;
    parallel_for(thread_count(execution), std::max(0, frames - lag), [&](std::int64_t slot) {
      const auto t = static_cast<std::int32_t>(slot), there = t + lag - 1;
      if (stale[at(t)] == 0) return;
      const auto from = points.frame(t), stop = points.frame(there);
      const auto begin = at(points.offset[at(t)]), begin_there = at(points.offset[at(there)]);
      Nearest near(stop, lists[at(there)]);
      std::ptrdiff_t guess = -1;
      for (std::size_t k = 0; k < from.size(); ++k) {
        const Vec3 so_far = out.by_lag[at(lag) - 2][begin + k];
        const Vec3 place{from[k].x + so_far.x, from[k].y + so_far.y, from[k].z + so_far.z};
        // The detection of its own track is near the place.
        Index on_track = linking.next[begin + k];
        while (on_track >= 0 && points.slot[at(on_track)] < there) on_track = linking.next[at(on_track)];
        if (on_track >= 0 && points.slot[at(on_track)] == there)
          guess = static_cast<std::ptrdiff_t>(at(on_track) - begin_there);
        const bool any = !stop.empty();
        const std::size_t nearest = any ? near.of(place, guess) : 0;
        const Vec3 step = any ? out.by_lag[0][begin_there + nearest] : Vec3{};
        out.by_lag[at(lag) - 1][begin + k] = {so_far.x + step.x, so_far.y + step.y, so_far.z + step.z};
      }
    });
  }
  return out;
}

namespace {

/// A pair of frames, linked with predictions by a field.
struct FieldPair {
  SeriesLinking links;
  Moves moves;         ///< displacements of the links
  PointMoves arrived;  ///< the same, by the detection where they end
  double scale = 0;
  /// Another round would not change anything, so any start that reaches these links ends with them.
  bool fixed = false;
  /// Negative log-likelihood with the field of its own links, where no link predicts itself.
  double cost = std::numeric_limits<double>::infinity();
};

/// Links the pairs of a series, from one start or from several.
class FieldPairs {
 public:
  /// For the pairs that begin in frames first to last.
  FieldPairs(const Execution& execution, const SeriesPoints& points, const std::string& solver,
             const SeriesLists& lists, std::int32_t first, std::int32_t last)
      : execution_(execution),
        points_(points),
        lists_(lists),
        solver_(solver),
        first_(first),
        last_(last),
        pairs_(at(points.frames() - 1)) {}

  /// Links each pair with the field of the one before.
  void forward() {
    double scale = 0;
    const FieldPair* before = nullptr;
    for (std::int32_t t = first_; t <= last_; ++t) {
      if (empty(t)) continue;
      const SeriesPoints pair = pair_of(points_, t);
      pairs_[at(t)] = linked(t, pair, start_of(t, pair, before),
                             scale > 0 ? scale : kFirstScalePerSpacing * spacing_of(pair));
      scale = scale > 0 ? kMemory * scale + (1 - kMemory) * pairs_[at(t)].scale : pairs_[at(t)].scale;
      before = &pairs_[at(t)];
    }
  }

  /// Links again from other starts: no motion, the best rotation of the whole, the field of the pair after,
  /// and again that of the pair before. Keeps the most likely linking of each pair.
  void from_several_starts() {
    for (std::int32_t t = first_; t <= last_; ++t) {
      if (empty(t)) continue;
      const SeriesPoints pair = pair_of(points_, t);
      try_start(t, pair, still(pair));
      const std::vector<Vec3> turned = rigid_moves(pair.frame(0), pair.frame(1), spacing_of(pair));
      if (!turned.empty()) try_start(t, pair, turned);
      if (t > first_) try_before(t, pair);
    }
    for (std::int32_t t = last_ - 1; t >= first_; --t)
      if (!empty(t) && !empty(t + 1)) {
        const SeriesPoints pair = pair_of(points_, t);
        const Moves& after = pairs_[at(t) + 1].moves;
        try_start(t, pair, local_field(threads_for(pair), after.from, after.move, pair.frame(0)));
      }
    for (std::int32_t t = first_ + 1; t <= last_; ++t)
      if (!empty(t)) try_before(t, pair_of(points_, t));
  }

  /// Gain of the links over links without prediction, in nats per detection.
  double gain() const {
    double sum = 0, count = 0;
    for (std::int32_t t = first_; t <= last_; ++t) {
      if (empty(t)) continue;
      const SeriesPoints pair = pair_of(points_, t);
      const FieldPair& now = pairs_[at(t)];
      sum += linked(t, pair, still(pair), now.scale, nullptr, false).cost - now.cost;
      count += static_cast<double>(pair.frame(0).size());
    }
    return count > 0 ? sum / count : 0;
  }

  SeriesLinking linking() const {
    SeriesLinking out = SeriesLinking::none(points_.size());
    for (std::int32_t t = 0; t + 1 < points_.frames(); ++t) {
      const Index begin = points_.offset[at(t)], middle = points_.offset[at(t) + 1];
      for (Index i = 0; !empty(t) && i < middle - begin; ++i) {
        const Index j = pairs_[at(t)].links.next[at(i)];
        if (j < 0) continue;
        out.next[at(begin + i)] = begin + j;
        out.previous[at(begin + j)] = begin + i;
      }
    }
    return out;
  }

  /// Median displacement of the links, in spacings.
  double steps() const {
    std::vector<double> lengths;
    for (const FieldPair& pair : pairs_)
      for (const Vec3& move : pair.moves.move) lengths.push_back(length_of(move));
    return lengths.empty() ? 0 : quantile(lengths, 0.5) / points_.spacing_um;
  }

 private:
  bool empty(std::int32_t t) const { return points_.frame(t).empty() || points_.frame(t + 1).empty(); }
  static double spacing_of(const SeriesPoints& pair) { return std::pow(pair.density[0], -1.0 / pair.dims); }
  static std::vector<Vec3> still(const SeriesPoints& pair) { return std::vector<Vec3>(pair.frame(0).size()); }
  /// One thread for small pairs, for which starting threads would take longer than the work.
  Execution threads_for(const SeriesPoints& pair) const {
    Execution out = execution_;
    if (pair.size() < kPointsWorthThreads) out.threads = 1;
    return out;
  }
  /// The field of the pair before, at the detections where its links end.
  std::vector<Vec3> start_of(std::int32_t t, const SeriesPoints& pair, const FieldPair* before) const {
    if (before == nullptr) return still(pair);
    if (t > 0 && before == &pairs_[at(t) - 1])
      return local_field_among(threads_for(pair), pair.frame(0), lists_[at(t)], before->arrived, true);
    return local_field(threads_for(pair), before->moves.to, before->moves.move, pair.frame(0));
  }
  void try_before(std::int32_t t, const SeriesPoints& pair) {
    if (empty(t - 1)) return;
    try_start(t, pair, start_of(t, pair, &pairs_[at(t) - 1]));
  }
  void try_start(std::int32_t t, const SeriesPoints& pair, const std::vector<Vec3>& field) {
    std::vector<double> scales;
    for (std::int32_t near = std::max(0, t - kScalesAround);
         near <= std::min(points_.frames() - 2, t + kScalesAround); ++near)
      if (!empty(near)) scales.push_back(pairs_[at(near)].scale);
    FieldPair now = linked(t, pair, field, quantile(scales, 0.5), &pairs_[at(t)]);
    if (now.cost < pairs_[at(t)].cost - kLikelier) pairs_[at(t)] = std::move(now);
  }

  /// Links a pair, starting from a field. `best`: a linking that is known; if the result would be the same,
  /// the search ends and the returned cost is infinite.
  FieldPair linked(std::int32_t t, const SeriesPoints& pair, const std::vector<Vec3>& start, double scale,
                   const FieldPair* best = nullptr, bool by_field = true) const {
    const auto from = pair.frame(0);
    const Execution of_pair = threads_for(pair);
    SeriesModel model;
    model.dims = pair.dims;
    model.elapsed = {1};
    model.growth = {1};
    model.clutter = 0;  // tracks that end or begin are all that lack a link
    model.shape.emplace_back(pair.dims);
    Prediction prediction;
    prediction.by_lag.assign(1, std::vector<Vec3>(pair.size()));
    const auto set_field = [&](const std::vector<Vec3>& field) {
      std::copy(field.begin(), field.end(), prediction.by_lag[0].begin());
    };
    set_field(start);
    SeriesGrids grids(2);
    grids[1] = RowGrid(pair.frame(1), spacing_of(pair));
    FieldPair out;
    out.scale = scale;
    for (int round = 0; round < kRoundsOfPair; ++round) {
      model.scale.assign(2, out.scale);
      const SeriesCandidates candidates =
          find_candidates(of_pair, pair, prediction, model, 1, nullptr, kLikelyNats, kMostLikely, &grids);
      SeriesLinking now =
          solve_series(of_pair, pair, model, candidates,
                       candidate_costs(of_pair, pair, prediction, model, candidates), solver_, false)
              .linking;
      std::size_t differ = 0;
      for (std::size_t i = 0; round > 0 && i < now.next.size(); ++i)
        differ += now.next[i] != out.links.next[i];
      const bool settled =
          round > 0 && static_cast<double>(differ) <= kSettledShare * static_cast<double>(from.size());
      if (best != nullptr && best->fixed && now.next == best->links.next) return {};
      out.links = std::move(now);
      if (by_field)
        set_field(local_field_among(of_pair, from, lists_[at(t)], moves_from(pair, out.links, 0), false));
      std::vector<double> lengths;
      for (Index i = 0; i < pair.offset[1]; ++i)
        if (const Index j = out.links.next[at(i)]; j >= 0)
          lengths.push_back(length_of(spread(pair, residual(pair, prediction, i, j), i, j)));
      if (lengths.size() >= kLeastForScale)
        out.scale = std::max(quantile(lengths, 0.5) / student_median(pair.dims),
                             kLeastScalePerSpacing * spacing_of(pair));
      out.fixed = round > 0 && differ == 0 && lengths.size() >= kLeastForScale;
      if (settled) break;
    }
    out.moves = moves_of_pair(pair, out.links);
    out.arrived = moves_to(pair, out.links);
    model.scale.assign(2, out.scale);
    out.cost = 0;
    for (Index i = 0; i < pair.offset[1]; ++i)
      out.cost +=
          out.links.next[at(i)] < 0
              ? model.end_cost(1) + model.birth_cost(pair.density[1], 1)
              : model.link_cost(0, 1, length_of(residual(pair, prediction, i, out.links.next[at(i)])));
    return out;
  }

  Execution execution_;
  const SeriesPoints& points_;
  const SeriesLists& lists_;
  std::string solver_;
  std::int32_t first_, last_;
  std::vector<FieldPair> pairs_;
};

}  // namespace

SeriesLinking link_along_field(const Execution& execution, const SeriesPoints& points,
                               const std::string& solver, const SeriesLists& lists) {
  lists.make(execution);
  FieldPairs pairs(execution, points, solver, lists, 0, points.frames() - 2);
  pairs.forward();
  if (points.size() <= kMostForStarts && pairs.steps() > kLargeSteps) pairs.from_several_starts();
  return pairs.linking();
}

std::optional<double> gain_of_some_pairs(const Execution& execution, const SeriesPoints& points,
                                         const std::string& solver, const SeriesLists& lists) {
  const std::int32_t all = points.frames() - 1;
  const auto enough = static_cast<std::int32_t>(kEnoughToTell * static_cast<std::size_t>(points.frames()) /
                                                std::max<std::size_t>(points.size(), 1));
  const std::int32_t some = std::max(kPairsToTell, enough);
  if (2 * some > all) return std::nullopt;
  const std::int32_t first = (all - some) / 2;
  FieldPairs pairs(execution, points, solver, lists, first, first + some - 1);
  pairs.forward();
  pairs.from_several_starts();
  return pairs.gain();
}

}  // namespace motes::tracking
