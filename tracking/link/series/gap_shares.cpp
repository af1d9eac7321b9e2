#include "tracking/link/series/gap_shares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/series_velocity.h>

#include "tracking/candidates/row_grid.h"
#include "tracking/link/series/occlusion.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Bounds of the shares of ends and births: a track can always end.
constexpr double kLeastShare = 1e-3, kMostShare = 0.3;
constexpr double kLeastClutter = 1e-4, kMostClutter = 0.9;
/// Shares are at most the share without partners by pair counts, or this if it is larger.
constexpr double kSomeShare = 0.02;
/// This many links are added to the count of each lag, so that a lag without links stays possible.
constexpr double kPseudoLinks = 0.5;
constexpr int kWeighings = 100;
/// The iteration ends when shares change by less than this, relatively.
constexpr double kSteady = 1e-3;
constexpr double kMostNats = 100;

/// The frames that are counted: those from which all lags stay within the series, forwards and backwards,
/// since links near its ends cannot bridge long gaps. All frames, if that would leave too few.
struct Counting {
  std::int32_t last;
  int lags;
  bool all;
  Counting(std::int32_t frames, int most) : last(frames - 1), lags(most), all(few_frames(frames, most)) {}
  bool after(std::int32_t t) const { return all || t <= last - lags; }
  bool before(std::int32_t t) const { return all || t >= lags; }
};

/// An end and a start that may be one track.
struct Pair {
  Index end = -1, start = -1;
  int lag = 0;
  double ratio = 0;  ///< density of the displacement divided by that of detections
};

double share(double part, double all) { return part / std::max(all, 1.0); }

class Gaps {
 public:
  Gaps(int threads, const SeriesPoints& points, const Prediction& prediction, const SeriesLinking& linking,
       const VelocityModel* velocity, const Occlusion* occlusion, const std::vector<TrackCounts>& counts,
       SeriesModel& model)
      : threads_(threads),
        points_(points),
        prediction_(prediction),
        linking_(linking),
        velocity_(velocity),
        occlusion_(occlusion),
        counts_(counts),
        model_(model),
        counting_(points.frames(), model.lags()),
        end_doubt_(points.size(), 1),
        start_doubt_(points.size(), 1) {}

  void run() {
    settle([&] { count(); });
    find_links();
    if (links_.empty()) return;
    find_chance();
    settle([&] { count(), weigh(); });
  }

 private:
  /// Repeats counting and estimating the shares until they converge.
  template <class Count>
  void settle(const Count& counted) {
    for (int round = 0; round < kWeighings; ++round) {
      const std::vector<double> before = model_.elapsed;
      const double end = model_.end, birth = model_.birth, clutter = model_.clutter;
      counted();
      take_shares();
      double moved = std::max({std::abs(model_.end / end - 1), std::abs(model_.birth / birth - 1),
                               std::abs(model_.clutter / clutter - 1)});
      for (std::size_t k = 0; k < before.size(); ++k)
        moved = std::max(moved, std::abs(model_.elapsed[k] / before[k] - 1));
      if (moved < kSteady) break;
    }
  }

  void take_shares() {
    double links = 0;
    for (const double n : elapsed_) links += kPseudoLinks + n;
    for (std::size_t k = 0; k < elapsed_.size(); ++k)
      model_.elapsed[k] = (kPseudoLinks + elapsed_[k]) / links;
    const double lost = 1 - points_.partners;
    const double most = std::clamp(lost, kSomeShare, kMostShare);
    model_.end = std::clamp(share(ended_, rows_), kLeastShare, most);
    model_.birth = std::clamp(share(begun_, cols_), kLeastShare, most);
    model_.clutter =
        std::clamp(share(false_, all_), kLeastClutter, std::clamp(lost, kSomeShare, kMostClutter));
  }

  /// Expected links, ends, births and false detections under the current model.
  void count() {
    const auto lags = at(model_.lags());
    std::vector<double> beyond(lags + 1, 0);
    for (std::size_t k = lags; k-- > 0;) beyond[k] = beyond[k + 1] + model_.elapsed[k];
    const auto last = points_.frames() - 1;
    elapsed_.assign(lags, 0);
    ended_ = begun_ = rows_ = cols_ = false_ = all_ = 0;
    for (std::int32_t t = 0; t <= last; ++t) {
      const TrackCounts& of = counts_[at(t)];
      const std::size_t left = std::min(at(last - t), lags);
      const double ends = model_.end + (1 - model_.end) * beyond[left];
      const double begins = model_.birth + (1 - model_.birth) * beyond[std::min(at(t), lags)];
      const double alone = static_cast<double>(of.alone), linked = static_cast<double>(of.linked);
      // A single detection with all lags on both sides is false; otherwise its track may be outside the
      // series.
      const double partly_seen = ends * begins - model_.end * model_.birth;
      const double wrong = alone * model_.clutter / (model_.clutter + partly_seen);
      const double particles = linked + alone - wrong, ended = static_cast<double>(of.last) + alone - wrong;
      if (counting_.after(t) && counting_.before(t)) false_ += wrong, all_ += linked + alone;
      if (counting_.before(t))
        cols_ += particles,
            begun_ += (particles - linked + static_cast<double>(of.first)) * model_.birth / begins;
      if (!counting_.after(t)) continue;
      rows_ += particles, ended_ += ended * model_.end / ends;
      for (std::size_t k = 0; k < lags; ++k) {
        elapsed_[k] += static_cast<double>(of.elapsed[k]);
        if (k >= left) elapsed_[k] += ended * (1 - model_.end) * model_.elapsed[k] / ends;
      }
    }
  }

  /// Probability that a track without detections after that frame (or before it) ends (or begins) there.
  double surely_ends(std::int32_t t) const {
    return model_.end / std::exp(-model_.end_cost(points_.frames() - 1 - t));
  }
  double surely_begins(std::int32_t t) const { return model_.birth / std::exp(-model_.birth_cost(1, t)); }

  /// Pair::ratio for the displacement d from `end` to `start`, minus the predicted one, over `lag` frames.
  double ratio(Index end, Index start, int lag, const Vec3& d) const {
    const std::int32_t t = points_.slot[at(end)];
    const double s = model_.scale_of(t, lag);
    double nats = model_.shape[at(lag) - 1].log_density(length_of(d) / s) - model_.dims * std::log(s) -
                  std::log(points_.density_at(at(start)));
    if (velocity_ != nullptr) {
      const double unit = 1 / model_.scale[at(t)];
      const auto add = [&](std::size_t side, Index from, Index to) {
        const int elapsed = points_.slot[at(to)] - points_.slot[at(from)];
        const Vec3 v = residual(points_, prediction_, from, to);
        const double f = unit / elapsed;
        nats += velocity_gain(*velocity_, model_, lag, side, elapsed > 1 ? 1 : 0,
                              {d.x * unit, d.y * unit, d.z * unit}, {v.x * f, v.y * f, v.z * f});
      };
      if (const Index p = linking_.previous[at(end)]; p >= 0) add(0, p, end);
      if (const Index n = linking_.next[at(start)]; n >= 0) add(1, start, n);
    }
    return std::exp(std::min(nats, kMostNats));
  }

  void find_links() {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Index j = linking_.next[i];
      if (j < 0 || !points_.is_inner(i)) continue;
      const int lag = points_.slot[at(j)] - points_.slot[i];
      if (lag < 2 || lag > model_.lags()) continue;
      const auto end = static_cast<Index>(i);
      const double expected = occlusion_ != nullptr ? std::exp(occlusion_->gain(prediction_, end, j)) : 1;
      links_.push_back({end, j, lag, expected * ratio(end, j, lag, residual(points_, prediction_, end, j))});
    }
  }

  bool gap_after(std::size_t i) const {
    const Index j = linking_.next[i];
    return j >= 0 && points_.slot[at(j)] > points_.slot[i] + 1;
  }
  bool ends(std::size_t i) const { return linking_.next[i] < 0 || gap_after(i); }
  bool starts(std::size_t j) const {
    const Index i = linking_.previous[j];
    return i < 0 || gap_after(at(i));
  }
  bool on_one_track(Index first, Index last) const {
    while (last >= 0 && points_.slot[at(last)] > points_.slot[at(first)]) last = linking_.previous[at(last)];
    return last == first;
  }

  /// Pairs of an end and a start before it, in frame s, that are more likely a link than not.
  std::vector<Pair> chance_with_starts_in(std::int32_t s) const {
    std::vector<Pair> out;
    std::vector<Vec3> places;
    std::vector<Index> of;
    for (Index j = points_.offset[at(s)]; j < points_.offset[at(s) + 1]; ++j)
      if (starts(at(j))) places.push_back(points_.at[at(j)]), of.push_back(j);
    if (places.empty()) return out;
    const RowGrid grid(places, points_.spacing_um);
    for (int lag = 2; lag <= model_.lags() && s + lag < points_.frames() - 1; ++lag) {
      const std::int32_t t = s + lag;
      const double reach = model_.reach(points_, s, lag);
      for (Index i = points_.offset[at(t)]; i < points_.offset[at(t) + 1]; ++i) {
        if (!ends(at(i)) || !points_.is_inner(at(i))) continue;
        const Vec3 &from = points_.at[at(i)], p = prediction_.of(lag, i);
        const Vec3 centre{from.x + p.x, from.y + p.y, from.z + p.z};
        grid.for_each_within(centre, reach, [&](std::size_t k, double) {
          if (on_one_track(of[k], i)) return;
          const Vec3& to = places[k];
          const Vec3 d{to.x - centre.x, to.y - centre.y, to.z - centre.z};
          const Pair pair{i, of[k], lag, ratio(i, of[k], lag, d)};
          if (likelier(pair) > 0.5) out.push_back(pair);
        });
      }
    }
    return out;
  }

  /// Finds pairs of an end and a start before it, which are by chance; each in at most one pair, the likely
  /// ones first.
  void find_chance() {
    std::vector<std::vector<Pair>> of_frame(at(points_.frames()));
    parallel_for(threads_, points_.frames() - 1, [&](std::int64_t k) {
      of_frame[at(k) + 1] = chance_with_starts_in(static_cast<std::int32_t>(k) + 1);
    });
    std::vector<Pair> all;
    for (const std::vector<Pair>& some : of_frame) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end(), [](const Pair& a, const Pair& b) {
      return a.ratio != b.ratio ? a.ratio > b.ratio : a.end != b.end ? a.end < b.end : a.start < b.start;
    });
    std::vector<char> taken_end(points_.size(), 0), taken_start(points_.size(), 0);
    for (const Pair& pair : all) {
      if (taken_end[at(pair.end)] || taken_start[at(pair.start)]) continue;
      taken_end[at(pair.end)] = taken_start[at(pair.start)] = 1;
      chance_.push_back(pair);
    }
  }

  /// The probability that a pair, far from both ends of the series, is a link rather than an end and a new
  /// track. A detection that is on no track without the link may be a false one.
  double likelier(const Pair& pair) const {
    const double link = model_.elapsed[at(pair.lag) - 1] * (1 - model_.end) * pair.ratio;
    double apart = model_.end * model_.birth;
    if (linking_.previous[at(pair.end)] < 0) apart *= std::max(1.0, clutter(pair.end) / apart);
    if (linking_.next[at(pair.start)] < 0)
      apart *= std::max(1.0, clutter(pair.start) / (model_.end * model_.birth));
    return link / (link + apart);
  }
  double clutter(Index i) const {
    return points_.log_odds.empty() ? model_.clutter : std::exp(-points_.log_odds[at(i)]);
  }

  /// Counts again, with only those links over gaps that the model expects and chance does not explain.
  void weigh() {
    const auto lags = at(model_.lags());
    std::vector<double> by_chance(lags, 0), expected(lags, 0);
    for (const Pair& link : links_) {
      const double p = likelier(link);
      expected[at(link.lag) - 1] += p;
      end_doubt_[at(link.end)] = start_doubt_[at(link.start)] = 1 - p;
    }
    for (const Pair& pair : chance_)
      by_chance[at(pair.lag) - 1] += likelier(pair) * end_doubt_[at(pair.end)] * start_doubt_[at(pair.start)];
    std::vector<double> kept = expected;
    for (std::size_t k = 1; k < lags; ++k) {
      // There are fewer frames with starts this many frames before ends than after them.
      const double frames = points_.frames() - static_cast<double>(k + 1);
      const double chance = frames > 2 ? by_chance[k] * frames / (frames - 2) : 0;
      kept[k] = expected[k] - chance - std::sqrt(chance);
    }
    for (const Pair& link : links_) {
      const std::size_t k = at(link.lag) - 1;
      const double doubt = 1 - likelier(link) * std::max(kept[k], 0.0) / expected[k];
      const std::int32_t t = points_.slot[at(link.end)], to = points_.slot[at(link.start)];
      if (counting_.after(t)) elapsed_[k] -= doubt, ended_ += doubt * surely_ends(t);
      if (counting_.before(to)) begun_ += doubt * surely_begins(to);
    }
    for (double& n : elapsed_) n = std::max(n, 0.0);
  }

  int threads_;
  const SeriesPoints& points_;
  const Prediction& prediction_;
  const SeriesLinking& linking_;
  const VelocityModel* velocity_;
  const Occlusion* occlusion_;
  const std::vector<TrackCounts>& counts_;
  SeriesModel& model_;
  Counting counting_;
  std::vector<Pair> links_, chance_;
  std::vector<double> elapsed_;
  double ended_ = 0, begun_ = 0, rows_ = 0, cols_ = 0, false_ = 0, all_ = 0;
  /// [points] probability that the linking's gap at an end or a start is wrong.
  std::vector<double> end_doubt_, start_doubt_;
};

}  // namespace

TrackCounts count_tracks(const SeriesPoints& points, const SeriesLinking& linking, int lags, std::int32_t t) {
  TrackCounts out;
  out.elapsed.assign(at(lags), 0);
  for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i) {
    if (!points.is_inner(at(i))) continue;
    const bool has_next = linking.next[at(i)] >= 0, has_previous = linking.previous[at(i)] >= 0;
    if (has_next)
      if (const int lag = points.slot[at(linking.next[at(i)])] - t; lag <= lags) ++out.elapsed[at(lag) - 1];
    ++(has_next || has_previous ? out.linked : out.alone);
    out.last += has_previous && !has_next, out.first += has_next && !has_previous;
  }
  return out;
}

void set_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel* velocity, const Occlusion* occlusion,
                const std::vector<TrackCounts>& counts, SeriesModel& model) {
  Gaps(thread_count(execution), points, prediction, linking, velocity, occlusion, counts, model).run();
}

void fit_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel& velocity, const Occlusion* occlusion,
                SeriesModel& model) {
  std::vector<TrackCounts> counts(at(points.frames()));
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    counts[at(t)] = count_tracks(points, linking, model.lags(), static_cast<std::int32_t>(t));
  });
  set_shares(execution, points, prediction, linking, velocity.by_lag.empty() ? nullptr : &velocity, occlusion,
             counts, model);
}

}  // namespace motes::tracking
