#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <motes/base/quantile.h>
#include <motes/tracking/noise_tracks.h>

namespace motes::tracking {
namespace {

/// Least numbers of single points, and of points on tracks.
constexpr std::size_t kLeastSingles = 10, kLeastOnTracks = 50;
/// Longest short track, in points. Spots of short tracks resemble single particles, which also enter and
/// leave at borders.
constexpr std::int64_t kShort = 5;
/// The quantile of all scores that is taken as the lowest.
constexpr double kLowest = 0.01;
/// Bounds of the distance in which noise falls off by a factor e, relative to the lowest score.
constexpr double kLeastFall = 0.01, kMostFall = 0.5;
/// How many times more or fewer particles than expected may be seen only once.
constexpr double kUnexpected = 2;
/// Share of the gain that may be lost if the number of particles seen once must be as expected.
constexpr double kMostLost = 0.5;
/// Number of quantiles that represent the scores of particles, and the least width of the kernel around each,
/// relative to the lowest score.
constexpr std::size_t kKernels = 200;
constexpr double kLeastWidth = 0.02;
/// Share of particles with a uniformly distributed score.
constexpr double kAnyScore = 0.02;
/// Least gain of the mixture with noise, in nats over all single points.
constexpr double kLeastGain = 8;
constexpr int kRounds = 200;

/// A Gaussian kernel density (Silverman's rule of thumb for the width).
class Density {
 public:
  Density(std::vector<double> values, double least_width) {
    const auto spread = (quantile(values, 0.75) - quantile(values, 0.25)) / 1.349;
    std::sort(values.begin(), values.end());
    const std::size_t n = std::min(values.size(), kKernels);
    for (std::size_t k = 0; k < n; ++k) centres_.push_back(values[(2 * k + 1) * values.size() / (2 * n)]);
    width_ = std::max(0.9 * spread * std::pow(static_cast<double>(n), -0.2), least_width);
  }
  double at(double x) const {
    double sum = 0;
    for (const double centre : centres_) {
      const double u = (x - centre) / width_;
      sum += std::exp(-0.5 * u * u);
    }
    return sum / (width_ * std::sqrt(2 * std::acos(-1.0)) * static_cast<double>(centres_.size()));
  }

 private:
  std::vector<double> centres_;
  double width_ = 1;
};

const std::vector<double>* scores_of(const TrackSet& tracks) {
  for (const PropertyColumn& column : tracks.point_properties)
    if (column.name == "score") return &column.values;
  return nullptr;
}

/// The single points of all tracks.
struct Singles {
  std::vector<double> excess;    ///< distance of the score from the lowest
  std::vector<double> particle;  ///< density of particles at that score
  double lowest = 0;             ///< score
  double expected = 0;           ///< number that are particles, from the tracks of several points
};

/// The number of particles seen only once, if tracks begin and end in any frame with the same probability.
/// Tracks of several points have these probabilities; a track that begins in the last frame has one point.
double expected_singles(const TrackSet& tracks) {
  if (tracks.frame.empty()) return 0;
  const auto [first, last] = std::minmax_element(tracks.frame.begin(), tracks.frame.end());
  double several = 0, begun = 0, ended = 0, after_first = 0, before_last = 0, in_last = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto begin = static_cast<std::size_t>(tracks.track_offsets[t]);
    const auto end = static_cast<std::size_t>(tracks.track_offsets[t + 1]);
    if (end - begin < 2) continue;
    several += 1;
    begun += tracks.frame[begin] > *first;
    ended += tracks.frame[end - 1] < *last;
    in_last += tracks.frame[end - 1] == *last;
    before_last += static_cast<double>(end - begin) - (tracks.frame[end - 1] == *last);
    after_first += static_cast<double>(end - begin) - (tracks.frame[begin] == *first);
  }
  if (several == 0) return 0;
  const double ends = std::min(ended / before_last, 0.99), begins = begun / after_first;
  return several * ends / (1 - ends) + in_last * begins;
}

/// The noise among single points: its share, and the distance in which its scores fall off by a factor e.
struct Mixture {
  double share = 0.5, fall = 1, gain = 0;
  double noise(double excess) const { return share * std::exp(-excess / fall) / fall; }
  double belief(const Singles& singles, std::size_t k) const {
    const double noise_here = noise(singles.excess[k]);
    return noise_here / (noise_here + (1 - share) * singles.particle[k]);
  }
};

/// The mixture of a share of noise in [least, most] that fits the scores best, with its gain over no noise.
Mixture fit(const Singles& singles, double least, double most) {
  Mixture mixture;
  mixture.fall = singles.lowest * 0.1;
  const std::size_t n = singles.excess.size();
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0, weighted = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double belief = mixture.belief(singles, k);
      sum += belief, weighted += belief * singles.excess[k];
    }
    mixture.share = std::clamp((sum + 0.5) / (static_cast<double>(n) + 1), least, most);
    mixture.fall =
        std::clamp(weighted / std::max(sum, 1e-9), kLeastFall * singles.lowest, kMostFall * singles.lowest);
  }
  for (std::size_t k = 0; k < n; ++k)
    mixture.gain += std::log(mixture.noise(singles.excess[k]) / singles.particle[k] + (1 - mixture.share));
  return mixture;
}

/// [singles] 1: noise.
std::vector<char> tell(const Singles& singles) {
  const auto n = static_cast<double>(singles.excess.size());
  const double most = std::clamp(1 - singles.expected / kUnexpected / n, 0.01, 0.99);
  const double least = std::clamp(1 - kUnexpected * (singles.expected + 1) / n, 0.0, most);
  Mixture mixture = fit(singles, 0, most);
  if (const Mixture as_expected = fit(singles, least, most);
      as_expected.gain > (1 - kMostLost) * mixture.gain)
    mixture = as_expected;
  std::vector<char> out(singles.excess.size(), 0);
  if (mixture.gain > kLeastGain)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = mixture.belief(singles, k) > 0.5;
  return out;
}

}  // namespace

std::vector<char> noise_tracks(const TrackSet& tracks) {
  std::vector<char> out(tracks.tracks(), 0);
  const std::vector<double>* const score = scores_of(tracks);
  if (score == nullptr) return out;
  std::vector<double> all, single, brief, on_tracks;
  std::vector<std::size_t> track_of;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const std::int64_t begin = tracks.track_offsets[t], end = tracks.track_offsets[t + 1];
    for (std::int64_t p = begin; p < end; ++p) {
      const double value = (*score)[static_cast<std::size_t>(p)];
      if (!std::isfinite(value)) continue;
      all.push_back(value);
      if (end - begin == 1) {
        single.push_back(value), track_of.push_back(t);
      } else {
        on_tracks.push_back(value);
        if (end - begin <= kShort) brief.push_back(value);
      }
    }
  }
  if (single.size() < kLeastSingles || on_tracks.size() < kLeastOnTracks) return out;
  const double lowest = quantile(all, kLowest);
  if (!(lowest > 0)) return out;
  const Density particles(brief.size() < kLeastOnTracks ? on_tracks : brief, kLeastWidth * lowest);
  const double range = *std::max_element(all.begin(), all.end()) - *std::min_element(all.begin(), all.end());
  if (!(range > 0)) return out;
  Singles singles;
  singles.lowest = lowest;
  singles.expected = expected_singles(tracks);
  for (const double value : single) {
    singles.excess.push_back(std::abs(value - lowest));
    singles.particle.push_back((1 - kAnyScore) * particles.at(value) + kAnyScore / range);
  }
  const std::vector<char> noise = tell(singles);
  for (std::size_t k = 0; k < single.size(); ++k) out[track_of[k]] = noise[k];
  return out;
}

}  // namespace motes::tracking
