/// Scores of noise fall off exponentially from the lowest on, and its tracks are short; scores of particles
/// are spread as those of short tracks, which are also seen where particles enter and leave.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <motes/base/quantile.h>
#include <motes/tracking/noise_tracks.h>

namespace motes::tracking {
namespace {

/// Least numbers of single points, and of points on tracks.
constexpr std::size_t kLeastSingles = 10, kLeastOnTracks = 50;
/// Longest track that can be noise, and longest whose scores represent particles, in points.
constexpr std::int64_t kLongestNoise = 5, kLongestBrief = 10;
/// The quantile of all scores that is taken as the lowest.
constexpr double kLowest = 0.01;
/// Bounds of the distance in which noise falls off by a factor e, relative to the lowest score.
constexpr double kLeastFall = 0.01, kFirstFall = 0.1, kMostFall = 0.5;
/// First guesses of the probability of noise for tracks of one, two and more points.
constexpr std::array<double, 3> kFirstBelief{0.7, 0.5, 0.2};
/// Number of quantiles that represent the scores of particles, least width of the kernel around each relative
/// to the lowest score, and number of places at which the density is computed.
constexpr std::size_t kKernels = 200, kPlaces = 1024;
constexpr double kLeastWidth = 0.02;
/// Share of particles with a uniformly distributed score.
constexpr double kAnyScore = 0.02;
/// Least gain of the mixture with noise, in nats over all tracks.
constexpr double kLeastGain = 8;
constexpr int kRounds = 60, kRoundsPerDensity = 5;
constexpr double kMostNats = 50;

/// A Gaussian kernel density of weighted values (Silverman's rule of thumb for the width), tabulated.
class Density {
 public:
  /// `order`: indices of `values` in ascending order. The weights must not all be 0.
  Density(const std::vector<double>& values, const std::vector<std::size_t>& order,
          const std::vector<double>& weight, double least_width)
      : low_(values[order.front()]), step_((values[order.back()] - low_) / (kPlaces - 1)) {
    double all = 0;
    for (const std::size_t i : order) all += weight[i];
    std::vector<double> centres;
    double sum = 0;
    for (const std::size_t i : order) {
      sum += weight[i];
      while (static_cast<double>(2 * centres.size() + 1) * all < 2 * kKernels * sum &&
             centres.size() < kKernels)
        centres.push_back(values[i]);
    }
    const double spread = (quantile(centres, 0.75) - quantile(centres, 0.25)) / 1.349;
    const double effective = std::min(all, static_cast<double>(kKernels));
    const double width = std::max(0.9 * spread * std::pow(effective, -0.2), least_width);
    const double unit = width * std::sqrt(2 * std::acos(-1.0)) * static_cast<double>(centres.size());
    for (std::size_t k = 0; k < kPlaces; ++k) {
      double density = 0;
      for (const double centre : centres) {
        const double u = (low_ + static_cast<double>(k) * step_ - centre) / width;
        density += std::exp(-0.5 * u * u);
      }
      table_[k] = density / unit;
    }
  }
  double at(double x) const {
    const double place = std::clamp((x - low_) / step_, 0.0, static_cast<double>(kPlaces - 1));
    const auto k = std::min(static_cast<std::size_t>(place), kPlaces - 2);
    const double part = place - static_cast<double>(k);
    return (1 - part) * table_[k] + part * table_[k + 1];
  }

 private:
  double low_, step_;
  std::array<double, kPlaces> table_{};
};

const std::vector<double>* scores_of(const TrackSet& tracks) {
  for (const PropertyColumn& column : tracks.point_properties)
    if (column.name == "score") return &column.values;
  return nullptr;
}

/// The mixture of tracks of particles and tracks of noise, fitted by expectation maximisation.
class Mixture {
 public:
  Mixture(const TrackSet& tracks, const std::vector<double>& score) : tracks_(tracks), score_(score) {
    for (std::size_t i = 0; i < score.size(); ++i)
      if (std::isfinite(score[i])) order_.push_back(i);
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return score[a] != score[b] ? score[a] < score[b] : a < b;
    });
    if (!tracks.frame.empty()) last_ = *std::max_element(tracks.frame.begin(), tracks.frame.end());
    for (std::size_t t = 0; t < tracks.tracks(); ++t) {
      const std::int64_t n = points_of(t);
      belief_.push_back(
          n > kLongestNoise ? 0 : kFirstBelief[static_cast<std::size_t>(std::min<std::int64_t>(n, 3)) - 1]);
      open_.push_back(tracks.frame[static_cast<std::size_t>(tracks.track_offsets[t + 1]) - 1] == last_);
      (n == 1 ? singles_ : on_tracks_) += static_cast<std::size_t>(n);
    }
  }

  /// Whether noise can be told: enough points with scores that differ.
  bool possible() {
    if (singles_ < kLeastSingles || on_tracks_ < kLeastOnTracks || order_.size() < kLeastOnTracks)
      return false;
    lowest_ = score_[order_[static_cast<std::size_t>(kLowest * static_cast<double>(order_.size()))]];
    range_ = score_[order_.back()] - score_[order_.front()];
    return lowest_ > 0 && range_ > 0;
  }

  /// The gain over a mixture without noise, in nats.
  double fit() {
    double gain = 0;
    fall_ = kFirstFall * lowest_;
    for (int round = 0; round < kRounds; ++round) {
      if (round % kRoundsPerDensity == 0) judge_scores();
      estimate();
      gain = weigh();
    }
    return gain;
  }
  bool is_noise(std::size_t t) const { return belief_[t] > 0.5; }

 private:
  std::int64_t points_of(std::size_t t) const {
    return tracks_.track_offsets[t + 1] - tracks_.track_offsets[t];
  }
  template <class Use>
  void for_points(std::size_t t, const Use& use) const {
    for (std::int64_t p = tracks_.track_offsets[t]; p < tracks_.track_offsets[t + 1]; ++p)
      if (const auto i = static_cast<std::size_t>(p); std::isfinite(score_[i])) use(i);
  }
  double excess(std::size_t i) const { return std::abs(score_[i] - lowest_); }

  /// Sets the weights of the points on tracks of several points, up to `longest`, to the probability of
  /// particles; returns their sum.
  double weigh_points(std::int64_t longest, std::vector<double>& weight) const {
    double all = 0;
    for (std::size_t t = 0; t < belief_.size(); ++t)
      if (points_of(t) > 1 && points_of(t) <= longest)
        for_points(t, [&](std::size_t i) { all += weight[i] = 1 - belief_[t]; });
    return all;
  }

  /// The logarithm of the density of particles at the scores of each short track.
  void judge_scores() {
    std::vector<double> weight(score_.size(), 0);
    double all = weigh_points(kLongestBrief, weight);
    if (all < kLeastOnTracks) all = weigh_points(std::numeric_limits<std::int64_t>::max(), weight);
    particle_.assign(belief_.size(), 0);
    if (!(all > 0)) return;
    const Density density(score_, order_, weight, kLeastWidth * lowest_);
    for (std::size_t t = 0; t < belief_.size(); ++t)
      if (points_of(t) <= kLongestNoise)
        for_points(t, [&](std::size_t i) {
          particle_[t] += std::log((1 - kAnyScore) * density.at(score_[i]) + kAnyScore / range_);
        });
  }

  /// The share of noise among tracks, how its scores fall off, and how often both kinds continue.
  void estimate() {
    double noise = 0, points = 0, sum = 0;
    std::array<double, 2> goes_on{}, ends{};
    for (std::size_t t = 0; t < belief_.size(); ++t) {
      const double b = belief_[t], further = static_cast<double>(points_of(t) - 1),
                   end = open_[t] != 0 ? 0 : 1;
      goes_on[0] += (1 - b) * further, goes_on[1] += b * further;
      ends[0] += (1 - b) * end, ends[1] += b * end;
      noise += b;
      if (b > 0) for_points(t, [&](std::size_t i) { points += b, sum += b * excess(i); });
    }
    share_ = (noise + 0.5) / (static_cast<double>(belief_.size()) + 1);
    fall_ = std::clamp(points > 0 ? sum / points : fall_, kLeastFall * lowest_, kMostFall * lowest_);
    for (std::size_t k = 0; k < 2; ++k) continues_[k] = (goes_on[k] + 0.5) / (goes_on[k] + ends[k] + 1);
    continues_[1] = std::min(continues_[1], continues_[0]);
  }

  /// Sets the beliefs; returns the gain.
  double weigh() {
    double gain = 0;
    for (std::size_t t = 0; t < belief_.size(); ++t) {
      if (points_of(t) > kLongestNoise) {
        gain += std::log(1 - share_);
        continue;
      }
      double nats = -particle_[t];
      for_points(t, [&](std::size_t i) { nats -= excess(i) / fall_ + std::log(fall_); });
      nats += static_cast<double>(points_of(t) - 1) * std::log(continues_[1] / continues_[0]);
      if (open_[t] == 0) nats += std::log((1 - continues_[1]) / (1 - continues_[0]));
      const double ratio = share_ * std::exp(std::clamp(nats, -kMostNats, kMostNats));
      belief_[t] = ratio / (ratio + 1 - share_);
      gain += std::log(ratio + 1 - share_);
    }
    return gain;
  }

  const TrackSet& tracks_;
  const std::vector<double>& score_;
  std::vector<std::size_t> order_;  ///< points by ascending score
  std::vector<double> belief_;      ///< [tracks] probability of noise
  std::vector<double> particle_;    ///< [tracks] nats of its scores if it is a particle; 0 for long ones
  std::vector<char> open_;          ///< [tracks] 1: it may go on after the last frame
  std::int32_t last_ = 0;
  std::size_t singles_ = 0, on_tracks_ = 0;
  double lowest_ = 0, range_ = 0, share_ = 0.5, fall_ = 1;
  std::array<double, 2> continues_{};  ///< probability that a track goes on after a point: particle, noise
};

}  // namespace

std::vector<char> noise_tracks(const TrackSet& tracks) {
  std::vector<char> out(tracks.tracks(), 0);
  const std::vector<double>* const score = scores_of(tracks);
  if (score == nullptr) return out;
  Mixture mixture(tracks, *score);
  if (!mixture.possible() || !(mixture.fit() > kLeastGain)) return out;
  for (std::size_t t = 0; t < out.size(); ++t) out[t] = mixture.is_noise(t);
  return out;
}

}  // namespace motes::tracking
