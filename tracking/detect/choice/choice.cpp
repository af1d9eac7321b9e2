/// Each maximum gets a score (evidence.h). Minima hold no spots, so their scores show how noise of this frame
/// scores (selection.h). Round maxima and unround ones (edges, filaments, but also spots side by side) are
/// judged separately, each against minima of the same kind, since structure other than noise is mostly
/// unround.
///
/// In crowds neighbours disturb the scores, and the minima between spots raise the level. There, maxima that
/// score near the level are also taken if their response exceeds what noise would give (threshold.h).

#include "tracking/detect/choice/choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <motes/base/parallel_for.h>

#include "tracking/detect/choice/likely_spots.h"
#include "tracking/detect/choice/lines.h"
#include "tracking/detect/choice/objects.h"
#include "tracking/detect/choice/resolved_spots.h"
#include "tracking/detect/choice/response_noise.h"
#include "tracking/detect/choice/second_look.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/skewed_noise.h"
#include "tracking/detect/choice/tail_law.h"
#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/evidence/evidence.h"

namespace motes::tracking::detect {
namespace {

constexpr double kFalseShare = 0.05;      // of false spots among those found
constexpr std::int64_t kMinima = 3000;    // about this number is sampled
constexpr double kHotScore = 8;           // score of a hot voxel, in units of the noise's stretch
constexpr double kCrowd = 0.0035;         // in crowds a volume of one sigma cubed holds more spots
constexpr double kNearLevel = 0.7;        // scores near the level, relative to it, in crowds
constexpr double kCrowdFalseSpots = 0.1;  // of white noise in a frame,
constexpr double kCrowdFalseShare = 0.2;  // and of the spots beyond the first kManySpots: ten times as many
                                          // as pass, since they must score near the level as well
constexpr double kCrowdGap = 2;           // ratio of responses of a gap below which crowds have no spots
constexpr std::size_t kManySpots = 200;
constexpr double kNearLevelOfMany = 0.3;  // as kNearLevel, if there are more than kManySpots
constexpr double kUnroundQuarter = 1.94;  // 75th percentile of scores of unround maxima of white noise
constexpr std::size_t kFewest = 20;
constexpr std::size_t kFewToWarn = 10;  // fewer maxima are not worth a warning
constexpr double kShallow = 1.05;       // up to this stretch noise may be skewed
constexpr double kWide = 1.5;           // from this stretch on there is a warning
constexpr double kSmoothLeast = 1.25;   // from this stretch on responses may be used instead of scores,
constexpr double kMore = 1.15;          // if they give this many times as many spots,
constexpr double kFarMore = 2;          // or this many if scales are compared
constexpr double kLikeNoise = 2.8;      // median score of spots is higher; that of white noise is 1.1
constexpr double kCrowdedTail = 20;     // this many times as many as noise gives: spots make the tail

std::span<const double> from_on(std::span<const double> ascending, double level) {
  return ascending.last(count_over(ascending, level));
}

/// The noise of unround maxima. These are structure more often than noise. Unless most maxima over the level
/// are unround, their 75th percentile shows how far the structure reaches.
NoiseScores unround_noise(const ScoredMaxima& maxima, const ScoredMinima& minima, double round_stretch,
                          double round_level) {
  const std::span<const double> scores = maxima.scores(false);
  NoiseScores noise = noise_scores(scores, minima.unround, minima.per_sample);
  noise.stretch = std::max(noise.stretch, round_stretch);
  if (scores.size() < kFewest) return noise;
  if (count_over(scores, round_level) > count_over(maxima.scores(true), round_level)) return noise;
  noise.stretch = std::max(noise.stretch, percentile(scores, 0.75) / kUnroundQuarter);
  return noise;
}

double spot_volume(const Filter& filter) {
  double volume = 1;
  for (const double sigma : filter.sigma)
    if (sigma > 0) volume *= sigma;
  return volume;
}

/// In crowds, maxima below the levels that are also taken: those that score `near` and have this response.
struct Crowd {
  bool is_there = false;
  double near = 0, response = std::numeric_limits<double>::infinity();
};

/// In filtered noise the finest detail is a poor measure of the noise. The stretch of the scores (how much
/// wider they are than those of white noise) bounds how far it is used.
Crowd crowd_of(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
               const NoiseScores& noise, const Levels& levels, double floor) {
  const auto response = [&](double more) {
    return std::max(floor, noise_level(filter, shape, kCrowdFalseSpots + more) *
                               maxima.noise_deviation(noise.stretch * noise.stretch * noise.stretch));
  };
  Crowd crowd{true, kNearLevel * levels.round, response(0)};
  const std::size_t taken = maxima.count({levels, crowd.near, crowd.response, false});
  if (static_cast<double>(taken) * spot_volume(filter) <= kCrowd * static_cast<double>(shape.voxels()))
    return {};
  if (taken > kManySpots) {
    crowd.near = kNearLevelOfMany * levels.round;
    crowd.response = response(kCrowdFalseShare * static_cast<double>(taken - kManySpots));
  }
  // Compressed frames have lost their finest detail, so that a gap this wide overrules it.
  const std::span<const double> responses = maxima.responses();
  const std::optional<double> clear = clear_of_the_rest(responses, !maxima.mostly_lowest());
  const std::size_t above = clear ? count_over(responses, *clear) : 0;
  if (clear && above < responses.size() && *clear >= kCrowdGap * responses[responses.size() - above - 1] &&
      maxima.count_taken(levels) <= above)
    crowd.response = std::max(crowd.response, *clear);
  return crowd;
}

/// The values of both, in no order.
std::vector<double> joined(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Levels levels_without_rate(const ScoredMaxima& maxima, const ScoredMinima& minima,
                           const NoiseScores& round_noise, const ChoiceOptions& options) {
  const std::span<const double> round = maxima.scores(true), unround = maxima.scores(false);
  Levels levels;
  const double first_level = false_discovery_level(round_noise, round, kFalseShare);
  const auto likely = [&](const NoiseScores& of, std::span<const double> scores, double level) {
    return options.comparing ? level : level_of_likely(of, from_on(scores, level), level);
  };
  const double round_level = likely(round_noise, round, first_level);
  levels.round = first_valley(from_on(round, round_level), round_level);
  const NoiseScores noise = unround_noise(maxima, minima, round_noise.stretch, levels.round);
  const double unround_level = likely(noise, unround, false_discovery_level(noise, unround, kFalseShare));
  levels.unround = std::max(levels.round, first_valley(from_on(unround, unround_level), unround_level));
  levels.least = first_valley(from_on(round, first_level), first_level);
  const auto blends = [&](double level) {
    const double from = kBlendsBelow * level;
    return blends_into_noise(joined(from_on(round, from), from_on(unround, from)), level);
  };
  levels.blends = blends(round_level);
  if (levels.blends && !options.keep_blending)
    levels.round = levels.unround = std::numeric_limits<double>::infinity();
  if (blends(unround_level)) levels.unround = std::numeric_limits<double>::infinity();
  return levels;
}

/// Whether what only `lower` takes scores like noise: in a bright object, noise responds more than spots do.
bool adds_noise(const ScoredMaxima& maxima, const Levels& levels, const Levels& lower) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> scores;
  for (const LikelySpot& one : maxima.take({lower, kNone, kNone, false}))
    if (!levels.take(one.is_round, one.spot.score, one.response)) scores.push_back(one.spot.score);
  return !scores.empty() && percentile(scores, 0.5) < kLikeNoise;
}

/// If minima between spots, or a texture with the size of the spots, score like spots, the levels are far too
/// high. Then the scores or responses of the maxima alone show the spots. Used only if it gives twice as many
/// spots. Returns the response above a clear gap; infinity without one.
double lower_to_clear_spots(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                            Levels& levels) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::span<const double> responses = maxima.responses();
  const auto clear_score = clear_of_the_rest(maxima.scores(true), !maxima.mostly_lowest());
  auto clear_response = clear_of_the_rest(responses, !maxima.mostly_lowest());
  double unmistakable = kNone;
  if (clear_response && *clear_response >= kUnmistakableGap * highest_below(responses, *clear_response) &&
      *clear_response > noise_level(filter, shape, kCrowdFalseSpots) * maxima.noise_deviation(1))
    unmistakable = *clear_response;
  if (!clear_response && !maxima.mostly_lowest()) {
    clear_response = level_of_alike(responses, filter.dimensions, white_level(filter, shape, maxima));
    if (clear_response) unmistakable = *clear_response;
  }
  if (!clear_score && !clear_response) return kNone;
  levels.clear = clear_response.has_value();
  Levels by_score = levels, by_response = levels;
  if (clear_score) by_score.round = by_score.least = *clear_score;
  if (clear_response) by_response.response = *clear_response;
  for (const Levels& lower : {by_score, by_response}) {
    if (maxima.count_taken(lower) < 2 * std::max<std::size_t>(1, maxima.count_taken(levels)) ||
        adds_noise(maxima, levels, lower))
      continue;
    levels = lower;
    levels.blends = false;
  }
  return unmistakable;
}

/// Ascending scores without those of `spots`.
std::vector<double> without(std::vector<double> scores, const std::vector<ChosenSpot>& spots) {
  std::vector<double> known, left;
  for (const ChosenSpot& spot : spots) known.push_back(spot.score);
  std::sort(known.begin(), known.end());
  std::sort(scores.begin(), scores.end());
  std::set_difference(scores.begin(), scores.end(), known.begin(), known.end(), std::back_inserter(left));
  return left;
}

/// Levels for a given number of false spots. They come from the tail of all maxima, without the spots found
/// by the automatic choice. If there are so many spots that they form the tail, the tail of the minima
/// (`skew()` times as long) and the law of noise bound it. Frames of few maxima have no usable tail.
template <class Skew>
Levels levels_of_rate(const ScoredMaxima& maxima, const ScoredMinima& minima, const NoiseScores& round_noise,
                      const std::vector<ChosenSpot>& spots, double false_spots, double dof,
                      const Skew& skew) {
  const std::vector<double> up = without(joined(maxima.scores(true), maxima.scores(false)), spots);
  std::vector<double> down = joined(minima.round, minima.unround);
  std::sort(down.begin(), down.end());
  if (const std::optional<double> own =
          continued_level_of_maxima(up, down, false_spots, dof, minima.per_sample, skew)) {
    const double alarm = false_alarm_level(round_noise, false_spots);
    const auto over = static_cast<double>(count_over(maxima.scores(true), alarm));
    const double level = over > kCrowdedTail * (false_spots + 1) ? std::min(*own, alarm) : *own;
    return {level, level, level, false};
  }
  NoiseScores unround = noise_scores(maxima.scores(false), minima.unround, minima.per_sample);
  unround.stretch = std::max(unround.stretch, round_noise.stretch);
  const double share = round_noise.count / (round_noise.count + unround.count);
  const double round = false_alarm_level(round_noise, share * false_spots);
  return {round, false_alarm_level(unround, (1 - share) * false_spots), round, false};
}

/// The union of two lists in storage order; each voxel once.
std::vector<ChosenSpot> merged(const std::vector<ChosenSpot>& a, const std::vector<ChosenSpot>& b) {
  std::vector<ChosenSpot> both;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
                 [](const ChosenSpot& x, const ChosenSpot& y) { return x.voxel < y.voxel; });
  return both;
}

std::string rounded(double value) {
  std::string text = std::to_string(std::round(10 * value) / 10);
  return text.substr(0, text.find('.') + 2);
}

constexpr const char* kBlendWarning =
    "a few maxima stand out, but no gap separates them from the noise, as in textured images, so they "
    "are not reported as spots. If they are, set detection.threshold";

void warn_of_tail(const NoiseTail& tail, Choice& choice) {
  if (tail.dropped > kFewToWarn && tail.dropped > choice.spots.size())
    choice.warnings.push_back(
        std::to_string(tail.dropped) +
        " maxima look like spots but do not stand out from the tail of the others, as in speckle, "
        "deconvolved noise, or after a background is subtracted, so they are not reported. If they are "
        "spots, set detection.threshold");
  if (tail.doubtful && choice.spots.size() > kFewToWarn)
    choice.warnings.push_back(
        "the noise is skewed, and none of " + std::to_string(choice.spots.size()) +
        " spots stands out from the tail of the other maxima: they may be noise; look at the faintest ones, "
        "or set detection.threshold");
}

void warn_of_lines(const OnLines& lines, Choice& choice) {
  if (lines.dropped > kFewToWarn)
    choice.warnings.push_back(
        std::to_string(lines.dropped) +
        " maxima lie on lines (fibres, stripes or edges) and are not reported as spots. "
        "If they are spots, set detection.threshold");
  if (lines.most && choice.spots.size() > kFewToWarn)
    choice.warnings.push_back(
        "most of " + std::to_string(choice.spots.size()) +
        " spots are parts of lines (fibres, edges or long objects): one object may have "
        "several spots; if objects are wider, set detection.radius_um");
}

void warn_of_wide_noise(double stretch, double level, Choice& choice) {
  constexpr double kNear = 1.25;
  if (std::any_of(choice.spots.begin(), choice.spots.end(),
                  [](const ChosenSpot& spot) { return spot.over < kNear; }))
    choice.warnings.push_back("the noise is not white (its scores spread " + rounded(stretch) +
                              " times as wide), and some spots score hardly more than noise can (limit: " +
                              rounded(level) + "); look at the faintest spots");
}

/// Spots are faint if some score near the level, since others must be below it. Warns if many do.
void warn_of_faint(Choice& choice) {
  constexpr double kNear = 1.15, kFaintShare = 0.05, kWarnShare = 0.2, kFewestFaint = 3;
  const std::size_t all = choice.spots.size();
  const auto near = static_cast<std::size_t>(
      std::count_if(choice.spots.begin(), choice.spots.end(),
                    [&](const ChosenSpot& spot) { return spot.score < kNear * choice.level; }));
  const double share = static_cast<double>(near) / static_cast<double>(std::max<std::size_t>(all, 1));
  choice.faint = static_cast<double>(near) > kFewestFaint && share > kFaintShare;
  if (near > kFewToWarn && share > kWarnShare)
    choice.warnings.push_back(std::to_string(near) + " of " + std::to_string(all) +
                              " spots are hardly stronger than noise, so others are probably missed; motes "
                              "track accepts more noise to find them if tracks have many gaps, or as much as "
                              "detection.false_positives_per_frame says");
}

/// Moves the taken spots to the choice. `clear`: response in the gap below the spots of a crowd.
void keep_taken(const std::vector<LikelySpot>& likely, double clear, Choice& choice) {
  for (const LikelySpot& one : likely) {
    if (!one.taken) continue;
    choice.spots.push_back(one.spot);
    double& over = choice.spots.back().over;
    if (choice.crowd && one.is_round) over = std::max(over, one.response / clear);
  }
}

}  // namespace

std::int64_t rows_per_minima_sample(std::size_t maxima) {
  return static_cast<std::int64_t>(maxima) / kMinima;
}

ScoredMinima scores_of_minima(const std::vector<Evidence>& minima, std::span<const float> responses,
                              double per_sample) {
  ScoredMinima scored;
  scored.per_sample = per_sample;
  for (const Evidence& e : minima) (e.is_round() ? scored.round : scored.unround).push_back(e.score);
  for (const float response : responses) scored.depths.push_back(-static_cast<double>(response));
  return scored;
}

Choice choose_spots(const Execution& execution, const ScoredMaxima& maxima, const ScoredMinima& minima,
                    const Filter& filter, const VolumeFrame& frame, float floor,
                    const ChoiceOptions& options) {
  const Shape3& shape = frame.shape;
  const bool by_rate = options.false_spots.has_value();
  if (auto objects = objects_on_empty_ground(frame, maxima, options)) return *objects;
  NoiseScores noise = noise_scores(maxima.scores(true), minima.round, minima.per_sample);
  ChoiceOptions automatic = options;
  automatic.false_spots.reset();
  const Choice own =
      by_rate ? choose_spots(execution, maxima, minima, filter, frame, floor, automatic) : Choice{};
  // Where skewed noise raises the maxima, minima are shallow; in crowds they are deep.
  const auto skew = [&, skewed = !maxima.mostly_lowest() && noise.stretch <= kShallow] {
    return skewed ? skew_of_noise(execution, frame, filter, options.polarity) : 1;
  };
  if (!by_rate) noise.stretch = std::max(noise.stretch, skew());
  Levels levels = by_rate ? levels_of_rate(maxima, minima, noise, own.spots, *options.false_spots,
                                           dof_of_box(frame, filter), skew)
                          : levels_without_rate(maxima, minima, noise, options);
  const double unmistakable =
      by_rate ? std::numeric_limits<double>::infinity() : lower_to_clear_spots(filter, shape, maxima, levels);
  Choice choice;
  choice.level = levels.least;
  choice.noise_stretch = noise.stretch;
  const Clipping clipping = clipping_of(frame, maxima.scores(true), minima.round);
  const bool clipped = !by_rate && clipping != Clipping::none;
  const Crowd crowd = crowd_of(filter, shape, maxima, noise, levels, static_cast<double>(floor));
  const bool touching = !by_rate && !options.comparing;
  std::vector<LikelySpot> likely = maxima.take({levels, crowd.near, crowd.response, touching});
  if (touching) take_touching(execution, filter, likely);
  NoiseTail tail;
  if (clipped)
    tail = take_of_clipped(filter, maxima, clipping, levels, likely);
  else if (!by_rate && noise.stretch > kSmoothLeast)
    take_by_response(filter, maxima, noise.stretch, options.comparing ? kFarMore : kMore, levels, likely);
  if (!by_rate && !clipped && noise.stretch > kSmoothLeast)
    tail = drop_noise_tail(filter, maxima, minima, levels, likely);
  if (touching && !clipped && std::isfinite(unmistakable)) take_disturbed(maxima, unmistakable, likely);
  const Resolved resolved =
      touching && !clipped ? take_resolved({execution, frame, filter, options.polarity, options.tell_solid},
                                           maxima, minima.depths, likely)
                           : Resolved{};
  choice.solid = resolved.solid;
  if (resolved.taken) levels.blends = false;
  choice.blends = levels.blends;
  const std::size_t taken = count_taken(likely);
  // In frames of counted photons, gaps are those between whole numbers.
  choice.crowd = levels.clear && !clipped && 3 * taken > maxima.size() && !maxima.mostly_lowest();
  keep_taken(likely, middle_of_gap(maxima.responses(), levels.response), choice);
  if (clipping == Clipping::none) {
    const FirstLook first{frame,
                          maxima,
                          minima,
                          by_rate ? own.spots : choice.spots,
                          choice.level,
                          by_rate ? own.noise_stretch : noise.stretch,
                          options.comparing,
                          own.looked_again};
    if (choose_again(filter, first, options.false_spots, choice)) levels.blends = false;
  }
  OnLines lines;
  if (!by_rate && !choice.crowd && !options.keep_lines)
    lines = drop_lines(frame, filter, options.polarity, choice.spots, !options.comparing);
  // The caller accepts more false spots than the automatic choice has: its spots are kept.
  if (by_rate && kFalseShare * static_cast<double>(own.spots.size()) <= *options.false_spots)
    choice.spots = merged(choice.spots, own.spots);
  for (ChosenSpot& spot : choice.spots) spot.over = std::max(spot.over, spot.score / choice.level);
  choice.missing = !by_rate && !options.comparing && misses_most(filter, shape, maxima, minima, likely);
  choice.hot_voxels = maxima.any_hot(kHotScore * noise.stretch) &&
                      (!clipped || !choice.spots.empty() || single_voxels_stand_out(maxima));
  if (levels.blends && !options.keep_blending) choice.warnings.emplace_back(kBlendWarning);
  warn_of_tail(tail, choice);
  warn_of_lines(lines, choice);
  const bool plain = !crowd.is_there && !clipped && !resolved.taken;
  if (plain && noise.stretch > kWide) warn_of_wide_noise(noise.stretch, levels.least, choice);
  if (plain && !by_rate && !options.comparing && noise.stretch <= kSmoothLeast) warn_of_faint(choice);
  return choice;
}

}  // namespace motes::tracking::detect
