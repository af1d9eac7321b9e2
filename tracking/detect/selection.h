#pragma once
/// Which scores are spots: the level that noise does not reach, and the valley between noise and spots.

#include <cstdint>
#include <optional>
#include <span>

namespace motes::tracking::detect {

// Scores may come in any order; ascending ones cost least.

/// As quantile(). O(1) of ascending scores once these have been told to be, which is O(n).
double percentile(std::span<const double> scores, double share);

/// What the minima, which hold no spots, and the low scores say of noise.
struct NoiseScores {
  double stretch = 1;  ///< how much wider than on white noise the scores of noise are; at least 1
  double count = 0;    ///< extrema of noise among the maxima, estimated
};

/// `maxima` [n] and `minima` [m]: scores (zeros count); the frame has `minima_per_sample` times m minima.
/// O(n + m).
NoiseScores noise_scores(std::span<const double> maxima, std::span<const double> minima,
                         double minima_per_sample);

/// Share of noise maxima whose score exceeds `score`.
double noise_tail(const NoiseScores& noise, double score);

/// The score from which on at most a share `false_share` of the maxima is expected to be noise (Benjamini and
/// Hochberg 1995, with Storey's count of the null); where no maximum is that good, a score that noise reaches
/// in one of 1 / false_share frames. O(n log n).
double false_discovery_level(const NoiseScores& noise, std::span<const double> maxima, double false_share);

/// The least score from `level` on at which a maximum is more likely a spot than noise: scores up to kBand
/// times as high are counted, and at most half of them are expected to be noise (the local false-discovery
/// rate; Efron 2004). At most kRaised times `level`, and `level` where there are too few to tell. O(n log n).
double level_of_likely(const NoiseScores& noise, std::span<const double> maxima, double level);

/// The score that `false_spots` extrema of noise are expected to exceed.
double false_alarm_level(const NoiseScores& noise, double false_spots);

constexpr double kBlendsBelow = 0.8;  ///< of a level: lower scores do not matter to blends_into_noise

/// Whether the few scores over `level` go on without a gap from at least half as many just below it: the tail
/// of something that is neither noise nor spots, such as texture. O(n log n).
bool blends_into_noise(std::span<const double> scores, double level);

/// Whether the `above` highest of the values (ascending) are too high for the tail of those below, Rayleigh's
/// by their median and by their upper tenth. O(1).
bool beyond_tail(std::span<const double> ascending, std::size_t above);

/// The least of the values that stand clear of all others: eight or more, above the widest gap of a quarter
/// or more, and too high for the tail of those below (Rayleigh's, by their median and by their upper tenth).
/// With `may_be_most` they may be more than lie below if the gap is twofold, as where objects fill the frame.
/// Frames of counted photons are without it: numbers of photons have such gaps. Empty without a gap. Minima
/// do not enter: between spots they can be as deep as spots are high. O(n log n).
std::optional<double> clear_of_the_rest(std::span<const double> values, bool may_be_most = true);

/// Half the median of `ascending`, where they are too much alike for maxima of noise of any colour, which go
/// down to 0: objects that fill the frame. Empty where that is not more than `noise`, or values below it are
/// not far fewer than noise has. O(log n).
std::optional<double> level_of_alike(std::span<const double> ascending, int dimensions, double noise);

/// The least score of the first valley above `level` in the density of the logarithm of the scores, or
/// `level` where the density does not fall and rise again beyond chance. O(n).
double first_valley(std::span<const double> scores, double level);

}  // namespace motes::tracking::detect
