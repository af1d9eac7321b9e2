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
constexpr double kLeastFall = 0.01, kMostFall = 0.2;
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

/// The noise among single points: its share, and the distance in which its scores fall off by a factor e.
struct Mixture {
  double share = 0.5, fall = 1;
  double noise(double excess) const { return share * std::exp(-excess / fall) / fall; }
};

/// [singles] 1: noise. `excess`: score over the lowest, `particle`: density of particles at that score.
std::vector<char> tell(const std::vector<double>& excess, const std::vector<double>& particle,
                       double lowest) {
  Mixture mixture;
  mixture.fall = lowest * 0.1;
  const auto n = static_cast<double>(excess.size());
  const auto belief = [&](std::size_t k) {
    const double noise = mixture.noise(excess[k]);
    return noise / (noise + (1 - mixture.share) * particle[k]);
  };
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0, weighted = 0;
    for (std::size_t k = 0; k < excess.size(); ++k) sum += belief(k), weighted += belief(k) * excess[k];
    mixture.share = (sum + 0.5) / (n + 1);
    mixture.fall = std::clamp(weighted / std::max(sum, 1e-9), kLeastFall * lowest, kMostFall * lowest);
  }
  double gain = 0;
  for (std::size_t k = 0; k < excess.size(); ++k)
    gain += std::log((mixture.noise(excess[k]) + (1 - mixture.share) * particle[k]) / particle[k]);
  std::vector<char> out(excess.size(), 0);
  if (gain > kLeastGain)
    for (std::size_t k = 0; k < excess.size(); ++k) out[k] = belief(k) > 0.5;
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
  std::vector<double> excess, density;
  for (const double value : single) {
    excess.push_back(std::max(0.0, value - lowest));
    density.push_back((1 - kAnyScore) * particles.at(value) + kAnyScore / range);
  }
  const std::vector<char> noise = tell(excess, density, lowest);
  for (std::size_t k = 0; k < single.size(); ++k) out[track_of[k]] = noise[k];
  return out;
}

}  // namespace motes::tracking
