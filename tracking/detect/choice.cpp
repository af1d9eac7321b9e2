/// Each maximum gets a score (evidence.h); so do minima, which hold no spots and tell how noise of this frame
/// scores (selection.h). Round maxima and those that are not (edges, filaments, but also spots side by side)
/// are judged apart, each against minima of its own kind: structure that is not noise shows in the second
/// kind first.
///
/// In crowds the minima between spots score high too, and the level with them. There, maxima are also taken
/// whose response exceeds what white noise as strong as the frame's finest detail would give, if they score
/// near the level.

#include "tracking/detect/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <motes/base/quantile.h>

#include "tracking/detect/evidence.h"
#include "tracking/detect/second_look.h"
#include "tracking/detect/selection.h"
#include "tracking/detect/spots_nearby.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking::detect {
namespace {

constexpr double kFalseShare = 0.05;      // of what is found
constexpr std::int64_t kMinima = 3000;    // sampled, about
constexpr double kHotScore = 8;           // of a single voxel, in stretches
constexpr double kCrowd = 0.0035;         // spots in a volume of one sigma cubed
constexpr double kNearLevel = 0.7;        // of the level, in crowds
constexpr double kCrowdFalseSpots = 0.1;  // of white noise in a frame
constexpr double kUnroundQuarter = 1.94;  // 75th percentile of scores of unround maxima of white noise
constexpr std::size_t kFewest = 20;
constexpr double kTouching = 5;         // sigma between spots side by side
constexpr double kTouchingShare = 0.4;  // of the spots
constexpr double kAlike = 0.25;         // ratio of their responses at least
constexpr double kWide = 1.5;           // stretch that is worth a warning
constexpr double kMostLopsided = 1.35;  // maxima's tail over minima's, on noise of light

std::vector<double> scores_of(const std::vector<Evidence>& all, bool round) {
  std::vector<double> scores;
  for (const Evidence& e : all)
    if (e.is_round() == round) scores.push_back(e.score);
  return scores;
}

/// Scores, from which on a maximum is a spot.
struct Levels {
  double round = 0, unround = 0;
  double least = 0;  ///< of round, finite
  bool blends = false;
  double response = std::numeric_limits<double>::infinity();  ///< of round maxima that score at all
  double of(const Evidence& e) const { return e.is_round() ? round : unround; }
  bool take(const Evidence& e, double height) const {
    return e.score >= of(e) || (e.is_round() && e.score > 0 && height >= response);
  }
};

std::size_t count_over(const std::vector<Evidence>& all, bool round, double level) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(), [&](const Evidence& e) { return e.is_round() == round && e.score >= level; }));
}

/// Noise of the unround maxima. They are structure more often than noise; where they are not most of what
/// stands out, their own upper quarter tells how far it reaches.
NoiseScores unround_noise(const std::vector<Evidence>& maxima, std::vector<double> scores,
                          std::span<const double> minima, double minima_per_sample, double round_stretch,
                          double round_level) {
  NoiseScores noise = noise_scores(scores, minima, minima_per_sample);
  noise.stretch = std::max(noise.stretch, round_stretch);
  if (scores.size() < kFewest) return noise;
  if (count_over(maxima, false, round_level) > count_over(maxima, true, round_level)) return noise;
  noise.stretch = std::max(noise.stretch, quantile(scores, 0.75) / kUnroundQuarter);
  return noise;
}

Levels levels_without_rate(const std::vector<Evidence>& maxima, const std::vector<Evidence>& minima,
                           double minima_per_sample, const NoiseScores& round_noise, bool keep_blending) {
  const std::vector<double> round = scores_of(maxima, true), unround = scores_of(maxima, false);
  std::vector<double> all;
  for (const Evidence& e : maxima) all.push_back(e.score);
  Levels levels;
  const double round_level = false_discovery_level(round_noise, round, kFalseShare);
  levels.round = first_valley(round, round_level);
  const NoiseScores noise = unround_noise(maxima, unround, scores_of(minima, false), minima_per_sample,
                                          round_noise.stretch, levels.round);
  const double unround_level = false_discovery_level(noise, unround, kFalseShare);
  levels.unround = std::max(levels.round, first_valley(unround, unround_level));
  levels.least = levels.round;
  levels.blends = blends_into_noise(all, round_level);
  if (levels.blends && !keep_blending)
    levels.round = levels.unround = std::numeric_limits<double>::infinity();
  if (blends_into_noise(all, unround_level)) levels.unround = std::numeric_limits<double>::infinity();
  return levels;
}

std::size_t count_taken(const std::vector<Evidence>& maxima, const std::vector<double>& responses,
                        const Levels& levels) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < maxima.size(); ++i)
    if (levels.take(maxima[i], responses[i])) ++taken;
  return taken;
}

/// Where minima between spots, or a texture of the spots' own size, score as spots do, the levels are far too
/// high. Scores or responses of the maxima among themselves show the spots then. Used only where it gives
/// twice as many spots.
void lower_to_clear_spots(const std::vector<Evidence>& maxima, const std::vector<double>& responses,
                          Levels& levels) {
  std::vector<double> round_responses;
  for (std::size_t i = 0; i < maxima.size(); ++i)
    if (maxima[i].is_round() && maxima[i].score > 0) round_responses.push_back(responses[i]);
  Levels by_score = levels, by_response = levels;
  if (const auto clear = clear_of_the_rest(scores_of(maxima, true))) by_score.round = by_score.least = *clear;
  if (const auto clear = clear_of_the_rest(round_responses)) by_response.response = *clear;
  for (const Levels& lower : {by_score, by_response}) {
    if (count_taken(maxima, responses, lower) <
        2 * std::max<std::size_t>(1, count_taken(maxima, responses, levels)))
      continue;
    levels = lower;
    levels.blends = false;
  }
}

/// Levels of a stated number of false spots: of all maxima together, from their own tail. Where spots are so
/// many that they make the tail, the minima's tail bounds it. Frames of few maxima do not tell their own
/// tail.
Levels levels_of_rate(const std::vector<Evidence>& maxima, const std::vector<Evidence>& minima,
                      double minima_per_sample, const NoiseScores& round_noise, double false_spots) {
  std::vector<double> up, down;
  for (const Evidence& e : maxima) up.push_back(e.score);
  for (const Evidence& e : minima) down.push_back(e.score);
  if (const std::optional<double> own = continued_level(up, false_spots)) {
    const std::optional<double> bound = continued_level(down, false_spots, minima_per_sample);
    const double level = bound ? std::min(*own, kMostLopsided * *bound) : *own;
    return {level, level, level, false};
  }
  NoiseScores unround = noise_scores(scores_of(maxima, false), scores_of(minima, false), minima_per_sample);
  unround.stretch = std::max(unround.stretch, round_noise.stretch);
  const double share = round_noise.count / (round_noise.count + unround.count);
  const double round = false_alarm_level(round_noise, share * false_spots);
  return {round, false_alarm_level(unround, (1 - share) * false_spots), round, false};
}

/// Spots side by side are not round. Unround maxima that score as round spots do, and touch another maximum
/// that does and responds about as strongly, are spots too, where two fifths of the round spots touch one.
void take_touching(const Filter& filter, const std::vector<Voxel>& maxima,
                   const std::vector<Evidence>& evidence, const std::vector<double>& responses,
                   const Levels& levels, std::vector<unsigned char>& is_spot) {
  std::vector<std::size_t> likely;
  std::vector<Voxel> places;
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    if (is_spot[i] == 0 && (evidence[i].is_round() || evidence[i].score < levels.round)) continue;
    likely.push_back(i);
    places.push_back(maxima[i]);
  }
  const SpotsNearby nearby(filter, places);
  std::vector<std::size_t> unround;
  std::size_t round = 0, round_touching = 0;
  for (const std::size_t i : likely) {
    const bool touches = nearby.any_within(maxima[i], kTouching, [&](std::size_t k) {
      const double ratio = responses[i] / responses[likely[k]];
      return i != likely[k] && ratio > kAlike && ratio * kAlike < 1;
    });
    if (evidence[i].is_round()) ++round;
    if (evidence[i].is_round() && touches) ++round_touching;
    if (!evidence[i].is_round() && touches) unround.push_back(i);
  }
  if (static_cast<double>(round_touching) < kTouchingShare * static_cast<double>(round)) return;
  for (const std::size_t i : unround) is_spot[i] = 1;
}

double spot_volume(const Filter& filter) {
  double volume = 1;
  for (const double sigma : filter.sigma)
    if (sigma > 0) volume *= sigma;
  return volume;
}

std::string rounded(double value) {
  std::string text = std::to_string(std::round(10 * value) / 10);
  return text.substr(0, text.find('.') + 2);
}

}  // namespace

Choice choose_spots(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                    const Response& response, Polarity polarity, float floor,
                    const std::vector<Voxel>& maxima, const ChoiceOptions& options) {
  const bool by_rate = options.false_spots.has_value();
  const std::vector<Evidence> evidence =
      evidence_at(execution, frame, filter, response, polarity, maxima, Side::maxima);
  SampledMinima sample =
      sample_minima(execution, response, floor, static_cast<std::int64_t>(maxima.size()) / kMinima);
  erase_outside(options.mask, frame.shape, sample.voxels);
  const std::vector<Evidence> minima =
      evidence_at(execution, frame, filter, response, polarity, sample.voxels, Side::minima);
  std::vector<double> responses;
  for (const Voxel& v : maxima) responses.push_back(static_cast<double>(response.at(v.z, v.y, v.x)));
  const NoiseScores noise =
      noise_scores(scores_of(evidence, true), scores_of(minima, true), sample.rows_per_sample);
  Levels levels =
      by_rate ? levels_of_rate(evidence, minima, sample.rows_per_sample, noise, *options.false_spots)
              : levels_without_rate(evidence, minima, sample.rows_per_sample, noise, options.keep_blending);
  if (!by_rate) lower_to_clear_spots(evidence, responses, levels);
  Choice choice;
  choice.blends = levels.blends;
  choice.level = levels.least;
  choice.noise_stretch = noise.stretch;
  choice.hot_voxels = std::any_of(evidence.begin(), evidence.end(), [&](const Evidence& e) {
    return e.score == 0 && e.single > kHotScore * noise.stretch;
  });

  const std::size_t taken = count_taken(evidence, responses, levels);
  const bool crowd =
      static_cast<double>(taken) * spot_volume(filter) > kCrowd * static_cast<double>(frame.shape.voxels());
  const double response_level =
      crowd ? std::max(static_cast<double>(floor), noise_level(filter, frame.shape, kCrowdFalseSpots) *
                                                       noise_deviation(response, frame, filter))
            : std::numeric_limits<double>::infinity();
  std::vector<unsigned char> is_spot(maxima.size());
  for (std::size_t i = 0; i < maxima.size(); ++i)
    is_spot[i] = levels.take(evidence[i], responses[i]) ||
                         (evidence[i].score >= kNearLevel * levels.round && responses[i] >= response_level)
                     ? 1
                     : 0;
  if (!by_rate && !options.comparing) take_touching(filter, maxima, evidence, responses, levels, is_spot);
  if (!by_rate)
    if (auto again = second_look(execution, frame, filter, response, polarity, {maxima, evidence},
                                 {sample.voxels, minima}, {is_spot, noise.stretch})) {
      is_spot = std::move(*again);
      choice.blends = levels.blends = false;
    }
  for (std::size_t i = 0; i < maxima.size(); ++i)
    if (is_spot[i] != 0) choice.spots.push_back({maxima[i], evidence[i].score, evidence[i].amplitude});

  if (levels.blends && !options.keep_blending)
    choice.warnings.push_back(
        "a few maxima stand out, but no gap separates them from the noise, as in texture; "
        "none is taken for a spot. If they are spots, set detection.threshold");
  if (!choice.spots.empty() && noise.stretch > kWide && !crowd &&
      std::any_of(choice.spots.begin(), choice.spots.end(),
                  [&](const ChosenSpot& s) { return s.score < 1.25 * levels.round; }))
    choice.warnings.push_back("the noise is not white (its scores spread " + rounded(noise.stretch) +
                              " times as wide), and some spots score little more (the limit is " +
                              rounded(levels.round) + "); look at the faintest spots");
  return choice;
}

}  // namespace motes::tracking::detect
