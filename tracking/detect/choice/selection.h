#pragma once
/// Levels of scores: the level that noise does not reach, and the valley between noise and spots.

#include <cstdint>
#include <optional>
#include <span>

namespace motes::tracking::detect {

// Scores may be in any order; ascending ones are fastest.

/// The same as quantile(). The check whether scores are ascending is O(n); if they are, the rest is O(1).
double percentile(std::span<const double> scores, double share);

/// The noise, estimated from minima, which hold no spots, and from low scores.
struct NoiseScores {
  double stretch = 1;  ///< ratio of the scores of this noise to those of white noise; at least 1
  double count = 0;    ///< estimated number of maxima that are noise
};

/// `maxima` [n] and `minima` [m]: scores, including zeros; the frame has `minima_per_sample` times m minima.
/// O(n + m).
NoiseScores noise_scores(std::span<const double> maxima, std::span<const double> minima,
                         double minima_per_sample);

/// Share of noise maxima whose score exceeds `score`.
double noise_tail(const NoiseScores& noise, double score);

/// The score from which on at most a share `false_share` of the maxima is expected to be noise (Benjamini and
/// Hochberg 1995, with Storey's count of the null); if no maximum scores that high, the score that noise
/// reaches in one of 1 / false_share frames. O(n log n).
double false_discovery_level(const NoiseScores& noise, std::span<const double> maxima, double false_share);

/// The least score from `level` on at which a maximum is more likely a spot than noise: scores up to kBand
/// times as high are counted, and at most half of them are expected to be noise (the local false-discovery
/// rate; Efron 2004). At most kRaised times `level`; `level` if there are too few scores. O(n log n).
double level_of_likely(const NoiseScores& noise, std::span<const double> maxima, double level);

/// The score that `false_spots` maxima of noise are expected to exceed.
double false_alarm_level(const NoiseScores& noise, double false_spots);

constexpr double kBlendsBelow = 0.8;  ///< relative to a level: blends_into_noise ignores lower scores

/// Whether the few scores over `level` continue, without a gap, at least half as many just below it. Then
/// they are the tail of something other than noise and spots, such as texture. O(n log n).
bool blends_into_noise(std::span<const double> scores, double level);

/// Whether the `above` highest values (ascending) are too high for the tail of those below: that of Rayleigh
/// distributions with their median and with their upper tenth. O(1).
bool beyond_tail(std::span<const double> ascending, std::size_t above);

/// The lowest value above a clear gap: the widest gap with a ratio of at least 1.25, at least eight values
/// above it, and these beyond the tail of those below (see beyond_tail). With `may_be_most`, there may be
/// more values above than below if the ratio is at least 2, as in frames filled with objects. Use false for
/// frames of counted photons, since numbers of photons have such gaps. None without a gap. Minima are not
/// used, since between spots they can be as deep as spots are high. O(n log n).
std::optional<double> clear_of_the_rest(std::span<const double> values, bool may_be_most = true);

/// A level for objects that fill the frame: half the median of `ascending`, the responses of maxima, or
/// `noise` if that is higher; none unless the median exceeds `noise` and the values are more alike than in
/// noise of any correlation: fewer than in noise lie above 1.3 or 1.5 times the median, or far fewer below
/// half of it (half as many if the lower quartile is higher than in noise). O(log n).
std::optional<double> level_of_alike(std::span<const double> ascending, int dimensions, double noise);

/// The score at the first valley above `level` in the density of the logarithm of the scores; `level` if the
/// density does not fall and rise again significantly. O(n).
double first_valley(std::span<const double> scores, double level);

}  // namespace motes::tracking::detect
