#include "tracking/link/motion/straight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

using matching::Index;

/// Each detection has this many candidates in the next frame, the nearest ones.
constexpr std::size_t kCandidates = 32;
/// The number of detections that chance puts nearer to a predicted place than the nearest one is distributed
/// exponentially, with mean 1 by chance. These are the mean and the share at which the estimate starts.
constexpr double kFirstMean = 0.03, kFirstShare = 1.0 / kCandidates;
/// Displacements persist if the mean is below this.
constexpr double kMostMean = 0.3;
constexpr int kMixtureRounds = 50, kRounds = 4;
/// They are estimated from the candidates of about this many detections.
constexpr std::size_t kMixtureSample = 2000;
/// Share of links that another straight link follows: the particle may be missed, end or turn.
constexpr double kGoOn = 0.9;
/// Particles that rest bend less than others. Those that bend more are found among the rest, in another pass.
constexpr int kPasses = 2;
/// Larger log-likelihood ratios make no difference.
constexpr double kSure = 50;
/// Larger bends, in standard deviations, count as chance.
constexpr double kFarBend = 5;

struct Candidate {
  Index from, to;
  double before = 0, after = 0;  ///< log-likelihood ratio of straight links that lead here, and that follow
  double log_odds() const { return before + after - std::log(static_cast<double>(kCandidates - 1)); }
};

/// Two links that meet, and the square of their bend.
struct Meeting {
  std::uint32_t in, out;  ///< candidates
  float square;
};

/// Forward and backward sums over all straight tracks, as if particles did not exclude each other.
class StraightLinks {
 public:
  explicit StraightLinks(const SeriesPoints& points) : points_(points), first_(points.size() + 1, 0) {}

  SeriesLinking run(const Execution& execution) {
    SeriesLinking out = SeriesLinking::none(points_.size());
    find_candidates(execution);
    if (!(variance_ > 0)) return out;
    for (int round = 0; round < kRounds; ++round) {
      if (variance_ > listed_) list_meetings(execution);
      sum_tracks(execution);
      out = take();
      update_variance(out);
    }
    return out;
  }

 private:
  std::span<const Vec3> in(std::int32_t t) const {
    const std::size_t begin = at(points_.offset[at(t)]), end = at(points_.offset[at(t) + 1]);
    return std::span(points_.at).subspan(begin, end - begin);
  }
  const Vec3& where(Index i) const { return points_.at[at(i)]; }
  Vec3 bend(Index i, Index j, Index k) const { return where(k) - where(j) - (where(j) - where(i)); }

  void find_candidates(const Execution& execution) {
    const std::int32_t frames = points_.frames();
    std::vector<std::unique_ptr<NearPoints>> trees(at(frames));
    std::vector<std::vector<Candidate>> found(at(frames));
    parallel_for(thread_count(execution), frames, [&](std::int64_t t) {
      if (const auto points = in(static_cast<std::int32_t>(t)); !points.empty())
        trees[at(t)] = std::make_unique<NearPoints>(points);
    });
    std::vector<std::vector<double>> chances(at(frames)), squares(at(frames));
    const auto step = static_cast<Index>(std::max<std::size_t>(1, points_.size() / kMixtureSample));
    parallel_for(thread_count(execution), frames - 1, [&](std::int64_t t) {
      const NearPoints *next = trees[at(t) + 1].get(),
                       *after = t + 2 < frames ? trees[at(t) + 2].get() : nullptr;
      if (next == nullptr) return;
      std::array<std::size_t, kCandidates> index;
      std::array<double, kCandidates> squared;
      for (Index i = points_.offset[at(t)]; i < points_.offset[at(t) + 1]; ++i) {
        const std::size_t n = next->nearest(where(i), kCandidates, index.data(), squared.data());
        first_[at(i) + 1] = static_cast<std::int64_t>(n);
        for (std::size_t k = 0; k < n; ++k) {
          const Index j = points_.offset[at(t) + 1] + static_cast<Index>(index[k]);
          found[at(t)].push_back({i, j});
          if (after == nullptr || i % step != 0) continue;
          const double d = after->nearest_squared(where(j) + (where(j) - where(i)), kFar);
          chances[at(t)].push_back(points_.density_at(at(j)) * ball_volume(points_.dims, std::sqrt(d))),
              squares[at(t)].push_back(d);
        }
      }
    });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    for (auto& of_frame : found) candidates_.insert(candidates_.end(), of_frame.begin(), of_frame.end());
    into_.resize(points_.size()), meetings_.resize(points_.size());
    for (std::size_t k = 0; k < candidates_.size(); ++k) into_[at(candidates_[k].to)].push_back(k);
    fit_mixture(chances, squares);
  }

  /// Estimates the variance of bends from the detections nearest to the predicted places, a mixture of chance
  /// and persistence.
  void fit_mixture(const std::vector<std::vector<double>>& chances,
                   const std::vector<std::vector<double>>& squares) {
    double mean = kFirstMean, share = kFirstShare, square = 0;
    for (int round = 0; round < kMixtureRounds; ++round) {
      double weights = 0, sum = 0, all = 0;
      square = 0;
      for (std::size_t t = 0; t < chances.size(); ++t)
        for (std::size_t k = 0; k < chances[t].size(); ++k) {
          const double chance = chances[t][k];
          const double odds = share / (1 - share) / mean * std::exp(-chance * (1 / mean - 1));
          const double weight = odds / (1 + odds);
          weights += weight, sum += weight * chance, square += weight * squares[t][k], all += 1;
        }
      if (!(weights > 0)) return;
      mean = std::max(sum / weights, 1e-6), share = weights / all, square /= weights;
      if (mean > kMostMean || !(share < 0.5)) return;
    }
    variance_ = square / points_.dims;
  }

  /// Lists the pairs of links that meet at each detection and bend little, in order of the link in, then out.
  void list_meetings(const Execution& execution) {
    listed_ = variance_;
    const double most = kFarBend * kFarBend * listed_;
    parallel_for(thread_count(execution), std::ssize(meetings_), [&](std::int64_t point) {
      std::vector<Meeting>& list = meetings_[at(point)];
      list.clear();
      for (const std::size_t in : into_[at(point)])
        for (std::int64_t out = first_[at(point)]; out < first_[at(point) + 1]; ++out) {
          const double square =
              squared_length(bend(candidates_[in].from, static_cast<Index>(point), candidates_[at(out)].to));
          if (square <= most)
            list.push_back({static_cast<std::uint32_t>(in), static_cast<std::uint32_t>(out),
                            static_cast<float>(square)});
        }
    });
  }

  /// Likelihood of the second link after the first, as a ratio to chance.
  double ratio(const Meeting& m) const {
    if (m.square > kFarBend * kFarBend * variance_) return 0;
    return unit_ / points_.density_at(at(candidates_[m.out].to)) *
           std::exp(-0.5 * double{m.square} / variance_);
  }

  void sum_tracks(const Execution& execution) {
    unit_ = std::pow(2 * std::numbers::pi * variance_, -0.5 * points_.dims);
    const std::int32_t frames = points_.frames();
    const auto each_of_frame = [&](std::int32_t t, const auto& body) {
      const Index begin = points_.offset[at(t)], end = points_.offset[at(t) + 1];
      parallel_for(thread_count(execution), end - begin, [&](std::int64_t k) { body(at(begin + k)); });
    };
    const auto sure = [](double sum) { return std::min(kSure, std::log(1 - kGoOn + kGoOn * sum)); };
    for (std::int32_t t = frames - 2; t > 0; --t)
      each_of_frame(t, [&](std::size_t j) {
        for (const std::size_t in : into_[j]) candidates_[in].after = 0;
        for (const Meeting& m : meetings_[j])
          if (const double r = ratio(m); r > 0)
            candidates_[m.in].after += r * std::exp(candidates_[m.out].after);
        for (const std::size_t in : into_[j]) candidates_[in].after = sure(candidates_[in].after);
      });
    for (std::int32_t t = 1; t + 1 < frames; ++t)
      each_of_frame(t, [&](std::size_t j) {
        for (std::int64_t out = first_[j]; out < first_[j + 1]; ++out) candidates_[at(out)].before = 0;
        for (const Meeting& m : meetings_[j])
          if (const double r = ratio(m); r > 0)
            candidates_[m.out].before += r * std::exp(candidates_[m.in].before);
        for (std::int64_t out = first_[j]; out < first_[j + 1]; ++out)
          candidates_[at(out)].before = sure(candidates_[at(out)].before);
      });
  }

  SeriesLinking take() const {
    SeriesLinking out = SeriesLinking::none(points_.size());
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < candidates_.size(); ++k)
      if (candidates_[k].log_odds() > 0) order.push_back(k);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return candidates_[a].log_odds() > candidates_[b].log_odds();
    });
    for (const std::size_t k : order)
      if (const Candidate& c = candidates_[k]; out.next[at(c.from)] < 0 && out.previous[at(c.to)] < 0)
        out.next[at(c.from)] = c.to, out.previous[at(c.to)] = c.from;
    return out;
  }

  /// From the median bend of the tracks: some particles turn.
  void update_variance(const SeriesLinking& linking) {
    std::vector<double> squares;
    for (std::size_t j = 0; j < points_.size(); ++j)
      if (linking.next[j] >= 0 && linking.previous[j] >= 0)
        squares.push_back(squared_length(bend(linking.previous[j], static_cast<Index>(j), linking.next[j])));
    // Median of a chi-squared distribution (Wilson and Hilferty 1931).
    const double median = points_.dims * std::pow(1 - 2.0 / (9 * points_.dims), 3);
    if (const double square = squares.empty() ? 0 : quantile(squares, 0.5); square > 0)
      variance_ = square / median;
  }

  static constexpr double kFar = std::numeric_limits<double>::infinity();
  const SeriesPoints& points_;
  std::vector<std::int64_t> first_;  ///< [points + 1] of a detection's candidates
  std::vector<Candidate> candidates_;
  std::vector<std::vector<std::size_t>> into_;
  std::vector<std::vector<Meeting>> meetings_;  ///< [points]
  double listed_ = 0;                           ///< the variance for which these are listed
  double variance_ = 0, unit_ = 0;              ///< of a bend along each axis, and the density of no bend
};

}  // namespace

SeriesLinking link_straight(const Execution& execution, const SeriesPoints& points) {
  SeriesLinking out = StraightLinks(points).run(execution);
  for (int pass = 1; pass < kPasses && out.links() > 0; ++pass) {
    std::vector<char> rest(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) rest[i] = out.next[i] < 0 && out.previous[i] < 0;
    const SeriesPart part = take_part(points, rest, execution);
    if (part.points.size() == 0) break;
    const SeriesLinking more = StraightLinks(part.points).run(execution);
    for (std::size_t k = 0; k < part.whole.size(); ++k) {
      if (more.next[k] < 0) continue;
      const Index i = part.whole[k], j = part.whole[at(more.next[k])];
      out.next[at(i)] = j, out.previous[at(j)] = i;
    }
  }
  return out;
}

}  // namespace motes::tracking
