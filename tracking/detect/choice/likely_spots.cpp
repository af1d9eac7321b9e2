#include "tracking/detect/choice/likely_spots.h"

#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "tracking/detect/choice/response_noise.h"
#include "tracking/detect/choice/selection.h"
#include "tracking/detect/choice/spots_nearby.h"
#include "tracking/detect/choice/tail_law.h"
#include "tracking/detect/choice/threshold.h"

namespace motes::tracking::detect {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr double kTouching = 5;         // largest distance of touching spots, in sigma
constexpr double kTouchingShare = 0.4;  // least share of round spots that touch another
constexpr double kAlike = 0.25;         // least ratio of their responses
constexpr double kLeastRound = 0.45;    // least share of round maxima above a gap
constexpr double kMostInGap = 0.1;      // most unround maxima in a gap, per maximum above it
constexpr double kDisturbed = 0.3;  // least score of disturbed spots, relative to the median of round spots
// From this stretch on, or this ratio of its responses to the finest detail, noise is smooth, so that
// responses are better than scores.
constexpr double kSmooth = 1.6;
constexpr double kSmoothExcess = 4;
constexpr double kBlocks = 3;        // sigma in voxels: wider filters score blocks of voxels
constexpr double kNoiseScore = 1.1;  // highest score of noise, in units of the stretch
constexpr double kInCrowd = 0.8;  // least response of spots in a crowd, relative to the least of other spots
constexpr double kAgree = 1.5;    // most times as many spots by score as by response
constexpr double kLowered = 0.7;  // least ratio of a level of scores by their tail to that of noise
constexpr double kFalseShare = 0.05;  // of false spots among those by response
// Least score, relative to the level, of pairs that touch, unlike edges of specks.
constexpr double kUnroundOver = 1.5;
// Ratio of maxima's to minima's responses, at the median and the upper quartile.
constexpr double kLopsided = 1.2;
constexpr double kMirrored = 1.6;       // most times that maxima respond more than minima of the same rank,
constexpr double kMirroredShare = 0.5;  // and least number of minima per maximum
constexpr std::size_t kFewestMirrored = 4;
constexpr double kWidest = 3;               // sigma in voxels: noise is rarely smoothed more than this
constexpr std::size_t kFewestOthers = 100;  // maxima and minima needed for quartiles

constexpr double kAsDetail = 2.0 / 3;  // margin for white noise as strong as the finest detail
constexpr double kUnequal = 1.1;       // most times that noise has more or higher maxima than minima
constexpr double kLikeSpots = 0.33;    // least ratio of a response to that of spots

}  // namespace

double white_level(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima) {
  const double false_spots = kFalseShare * static_cast<double>(maxima.responses().size());
  return noise_level(filter, shape, false_spots) * maxima.noise_deviation(kAsDetail);
}

void take_touching(const Execution& execution, const Filter& filter, std::vector<LikelySpot>& likely) {
  std::vector<Voxel> places;
  places.reserve(likely.size());
  for (const LikelySpot& one : likely) places.push_back(one.spot.voxel);
  const SpotsNearby nearby(filter, places, kTouching);
  std::vector<unsigned char> touching(likely.size());
#pragma omp parallel for num_threads(thread_count(execution)) schedule(static, 64)
  for (std::size_t i = 0; i < likely.size(); ++i)
    touching[i] = nearby.any_within(places[i], [&](std::size_t k) {
      const double ratio = likely[i].response / likely[k].response;
      return i != k && ratio > kAlike && ratio * kAlike < 1;
    });
  std::size_t round = 0, round_touching = 0;
  for (std::size_t i = 0; i < likely.size(); ++i) {
    if (!likely[i].is_round) continue;
    ++round;
    if (touching[i] != 0) ++round_touching;
  }
  if (static_cast<double>(round_touching) < kTouchingShare * static_cast<double>(round)) return;
  for (std::size_t i = 0; i < likely.size(); ++i)
    if (!likely[i].is_round && touching[i] != 0) likely[i].taken = true;
}

void take_disturbed(const ScoredMaxima& maxima, double clear, std::vector<LikelySpot>& likely) {
  std::vector<double> scores;
  for (const LikelySpot& one : likely)
    if (one.taken && one.is_round) scores.push_back(one.spot.score);
  if (scores.empty()) return;
  std::sort(scores.begin(), scores.end());
  std::vector<LikelySpot> high = maxima.take({{kNone, kNone}, 0, clear / kUnmistakableGap});
  const auto below = std::erase_if(high, [&](const LikelySpot& one) { return one.response < clear; });
  const auto round =
      std::count_if(high.begin(), high.end(), [](const LikelySpot& one) { return one.is_round; });
  const auto all_high = static_cast<double>(high.size());
  if (static_cast<double>(round) < kLeastRound * all_high ||
      static_cast<double>(below) > kMostInGap * all_high)
    return;
  const double least = kDisturbed * percentile(scores, 0.5);
  std::erase_if(high, [&](const LikelySpot& one) { return one.spot.score < least; });
  const auto before = [](const LikelySpot& a, const LikelySpot& b) { return a.spot.voxel < b.spot.voxel; };
  std::vector<LikelySpot> all;  // if a maximum is in both, the entry of `high` is kept, which is taken
  std::set_union(high.begin(), high.end(), likely.begin(), likely.end(), std::back_inserter(all), before);
  likely = std::move(all);
}

void take_by_response(const Filter& filter, const ScoredMaxima& maxima, double stretch, double enough,
                      Levels& levels, std::vector<LikelySpot>& likely) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  std::vector<LikelySpot> all = maxima.take({{kLeast, kLeast}});
  const auto told = spots_by_response(filter, all, kNoiseScore * stretch);
  constexpr double kTiny = 1e-6;  // a margin so small that only the finest detail counts
  if (!told || (stretch < kSmooth && told->deviation < kSmoothExcess * maxima.noise_deviation(kTiny) / kTiny))
    return;
  // In blocks (blocks.h) the noise of neighbours is less correlated, and the finest detail says little about
  // it.
  const bool in_blocks = *std::max_element(filter.sigma.begin(), filter.sigma.end()) > kBlocks;
  const bool noise_is_seen = in_blocks && told->noise >= told->spots;
  std::size_t next = 0, before = 0, after = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    LikelySpot& one = all[i];
    one.taken = next < likely.size() && likely[next].spot.voxel == one.spot.voxel && likely[next].taken;
    if (next < likely.size() && likely[next].spot.voxel == one.spot.voxel) ++next;
    if (noise_is_seen && told->over[i] < kInCrowd && !levels.take(one.is_round, one.spot.score, one.response))
      one.taken = false;
    one.spot.over = told->is_spot[i] != 0 ? told->over[i] : 0;
    if (one.taken) ++before;
    if (one.taken || told->is_spot[i] != 0) ++after;
  }
  const bool more = after > 0 && static_cast<double>(after) >= enough * static_cast<double>(before);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (more && told->is_spot[i] != 0) all[i].taken = true;
  if (more) levels.blends = false;
  likely = std::move(all);
}

namespace {

/// The response from which on maxima are spots; infinity if none stand out.
struct TailLevel {
  double least = 0;  ///< lowest response of the spots
  double level = 0;  ///< between that and the responses below

  bool takes(const LikelySpot& one) const {
    return one.response >= (one.is_round ? least : kUnroundOver * level);
  }
};

/// The level for the round ones among `all` maxima.
TailLevel level_over_others(const std::vector<LikelySpot>& all) {
  std::vector<double> responses;
  for (const LikelySpot& one : all)
    if (one.is_round) responses.push_back(one.response);
  std::sort(responses.begin(), responses.end());
  double least = level_over_tail(responses, kFalseShare).value_or(kNone);
  least = std::isfinite(least) ? first_valley(responses, middle_of_gap(responses, least))
                               : clear_of_the_rest(responses).value_or(kNone);
  return {least, middle_of_gap(responses, least)};
}

std::vector<double> responses_of(const std::vector<LikelySpot>& all) {
  std::vector<double> responses;
  for (const LikelySpot& one : all) responses.push_back(one.response);
  return responses;
}

/// Responses of the maxima in `all` that `likely` does not take.
std::vector<double> responses_of_others(const std::vector<LikelySpot>& all,
                                        const std::vector<LikelySpot>& likely) {
  std::vector<double> others;
  auto next = likely.begin();
  for (const LikelySpot& one : all) {
    while (next != likely.end() && next->spot.voxel < one.spot.voxel) ++next;
    if (next == likely.end() || next->spot.voxel != one.spot.voxel || !next->taken)
      others.push_back(one.response);
  }
  return others;
}

/// Whether these maxima are clearly higher than minima are deep, by responses.
bool are_lopsided(const std::vector<double>& responses, std::span<const double> depths) {
  if (responses.size() < kFewestOthers || depths.size() < kFewestOthers) return false;
  const auto higher = [&](double share) {
    return percentile(responses, share) >= kLopsided * percentile(depths, share);
  };
  return higher(0.5) && higher(0.75);
}

}  // namespace

namespace {

/// Takes the round maxima whose scores exceed the tail of the other positive ones instead, if they are more.
/// (Near a bright background, clipping lowers responses, while scores are relative to the noise nearby.)
/// `noise`: the score that noise reaches.
void take_over_tail_of_scores(std::span<const double> scores, double noise, std::vector<LikelySpot>& all) {
  std::vector<double> squares;
  for (const double score : scores)
    if (score > 0) squares.push_back(score * score);
  const double least = level_over_tail(squares, kFalseShare).value_or(kNone);
  if (!(least >= kLowered * kLowered * noise * noise) || !std::isfinite(least)) return;
  const double level = std::sqrt(first_valley(squares, middle_of_gap(squares, least)));
  if (count_over(scores, level) <= count_taken(all)) return;
  for (LikelySpot& one : all) {
    one.taken = one.is_round && one.spot.score >= level;
    one.spot.over = one.spot.score / level;
  }
}

}  // namespace

bool misses_most(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                 const ScoredMinima& minima, const std::vector<LikelySpot>& likely) {
  if (maxima.responses().empty() || minima.depths.empty() || maxima.mostly_lowest()) return false;
  const double white = white_level(filter, shape, maxima);
  if (percentile(maxima.responses(), 0.5) <= white) return false;
  std::vector<double> all = responses_of(maxima.take({{-kNone, -kNone}})), taken;
  std::sort(all.begin(), all.end());
  const double lows = minima.per_sample * static_cast<double>(minima.size());
  if (static_cast<double>(all.size()) <= kUnequal * lows &&
      percentile(all, 0.5) <= kUnequal * percentile(minima.depths, 0.5))
    return false;
  for (const LikelySpot& one : likely)
    if (one.taken) taken.push_back(one.response);
  const double least = taken.empty() ? white : std::max(white, kLikeSpots * percentile(taken, 0.5));
  return count_over(all, least) > 2 * taken.size();
}

NoiseTail take_of_clipped(const Filter& filter, const ScoredMaxima& maxima, Clipping clipping, Levels& levels,
                          std::vector<LikelySpot>& likely) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  std::vector<LikelySpot> all = maxima.take({{kLeast, kLeast}});
  if (spots_are_most(all, levels, filter.dimensions)) return {};
  const TailLevel tail = level_over_others(all);
  for (LikelySpot& one : all) {
    one.taken = one.spot.score > 0 && tail.takes(one);
    one.spot.over = one.response / tail.level;
  }
  if (!maxima.mostly_lowest()) take_over_tail_of_scores(maxima.scores(true), levels.least, all);
  const std::size_t before = count_taken(likely), after = count_taken(all);
  if (clipping == Clipping::smoothed_noise && before >= after &&
      static_cast<double>(before) <= kAgree * static_cast<double>(after))
    return {};
  levels.blends = false;
  likely = std::move(all);
  return {before > after ? before - after : 0, false};
}

namespace {

/// Whether at least half as many minima as taken maxima are as deep as these are high, rank by rank.
bool are_mirrored(const std::vector<LikelySpot>& likely, const ScoredMinima& minima) {
  std::vector<double> heights, depths = minima.depths;
  for (const LikelySpot& one : likely)
    if (one.taken) heights.push_back(one.response);
  if (heights.size() < kFewestMirrored || depths.empty()) return false;
  std::sort(heights.begin(), heights.end(), std::greater<>());
  std::sort(depths.begin(), depths.end(), std::greater<>());
  const auto depth_at = [&](double rank) {
    return depths[std::min(depths.size() - 1, static_cast<std::size_t>(rank / minima.per_sample))];
  };
  const auto last = static_cast<double>(heights.size() - 1);
  for (const double share : {0.25, 0.5, 1.0})
    if (heights[static_cast<std::size_t>(share * last)] > kMirrored * depth_at(share * last)) return false;
  return depth_at(kMirroredShare * last) >= heights.back();
}

}  // namespace

bool single_voxels_stand_out(const ScoredMaxima& maxima) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  std::vector<double> responses;
  double single = 0;
  for (const LikelySpot& one : maxima.take({{kLeast, kLeast}})) {
    responses.push_back(one.response);
    if (one.spot.score == 0) single = std::max(single, one.response);
  }
  std::sort(responses.begin(), responses.end());
  return single >= level_over_tail(responses, kFalseShare).value_or(0);
}

NoiseTail drop_noise_tail(const Filter& filter, const ScoredMaxima& maxima, const ScoredMinima& minima,
                          const Levels& levels, std::vector<LikelySpot>& likely) {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  const std::size_t before = count_taken(likely);
  if (before == 0 || maxima.mostly_lowest() || std::max(filter.sigma[0], filter.sigma[1]) >= kWidest)
    return {};
  const std::vector<LikelySpot> all = maxima.take({{kLeast, kLeast}});
  const bool lopsided = are_lopsided(responses_of(all), minima.depths),
             mirrored = are_mirrored(likely, minima);
  if ((!lopsided && !mirrored) || spots_are_most(all, levels, filter.dimensions)) return {};
  const TailLevel tail = level_over_others(all);
  if (!mirrored && !are_lopsided(responses_of_others(all, likely), minima.depths))
    return {0, !std::isfinite(tail.least)};
  for (LikelySpot& one : likely) one.taken = one.taken && tail.takes(one);
  return {before - count_taken(likely), false};
}

}  // namespace motes::tracking::detect
