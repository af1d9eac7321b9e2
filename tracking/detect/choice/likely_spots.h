#pragma once
/// Rules that add spots to those whose scores pass the levels, or remove some; choice.cpp applies them in
/// order. Lists of likely spots are in storage order, each maximum at most once.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tracking/detect/choice/choice.h"
#include "tracking/detect/choice/skewed_noise.h"

namespace motes::tracking::detect {

constexpr double kUnmistakableGap = 2;  ///< ratio of the responses above and below a clear gap

inline std::size_t count_over(std::span<const double> ascending, double level) {
  return static_cast<std::size_t>(ascending.end() -
                                  std::lower_bound(ascending.begin(), ascending.end(), level));
}

/// The highest value below `level`; 0 if there is none.
inline double highest_below(std::span<const double> ascending, double level) {
  const std::size_t below = ascending.size() - count_over(ascending, level);
  return below == 0 ? 0 : ascending[below - 1];
}

/// The geometric mean of `level` and the highest value below it.
inline double middle_of_gap(std::span<const double> ascending, double level) {
  const double below = highest_below(ascending, level);
  return below == 0 || !std::isfinite(level) ? level : std::sqrt(level * below);
}

inline std::size_t count_taken(const std::vector<LikelySpot>& likely) {
  return static_cast<std::size_t>(
      std::count_if(likely.begin(), likely.end(), [](const LikelySpot& one) { return one.taken; }));
}

/// The response that a twentieth as many maxima as respond here exceed in white noise as strong as the finest
/// detail.
double white_level(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima);

/// Spots side by side are not round. If two fifths of the round spots touch another spot, unround maxima that
/// score as high as round spots are spots, too, provided they touch such a maximum of about the same
/// response.
void take_touching(const Execution& execution, const Filter& filter, std::vector<LikelySpot>& likely);

/// Neighbours lower the scores of objects such as nuclei; neighbours and texture make them unround. If
/// about half of the maxima above a clear gap in the responses are round, all above it that score a third of
/// the typical round spot's score are spots. (Filaments and grain of cells have fewer, and ghosts between
/// spots score less.) `clear`: the lowest response above the gap.
void take_disturbed(const ScoredMaxima& maxima, double clear, std::vector<LikelySpot>& likely);

/// For smoothed noise, in which responses are better than scores. Removes from `likely` the spots of crowds
/// that are noise by response, and adds the spots found by response if there are then `enough` times as many.
void take_by_response(const Filter& filter, const ScoredMaxima& maxima, double stretch, double enough,
                      Levels& levels, std::vector<LikelySpot>& likely);

/// Whether objects that fill the frame are missing: most maxima respond beyond white noise; unlike in noise
/// of any correlation they are more than the minima, or higher; and over twice as many as are taken respond
/// like the taken ones. O(maxima log(maxima)), O(1) if most are white noise.
bool misses_most(const Filter& filter, const Shape3& shape, const ScoredMaxima& maxima,
                 const ScoredMinima& minima, const std::vector<LikelySpot>& likely);

/// The effect of take_of_clipped and drop_noise_tail.
struct NoiseTail {
  std::size_t dropped = 0;  ///< number of spots no longer taken
  bool doubtful = false;    ///< the remaining spots may all be noise
};

/// In clipped frames levels of scores say little. Takes the round maxima whose responses exceed the tail of
/// the others (tail_law.h), or else those above a clear gap; or those whose scores exceed the tail of the
/// others, if they are more. Changes nothing if most maxima are spots, or if smoothed noise was clipped and
/// responses give hardly fewer spots than scores, since in crowds scores are better.
NoiseTail take_of_clipped(const Filter& filter, const ScoredMaxima& maxima, Clipping clipping, Levels& levels,
                          std::vector<LikelySpot>& likely);

/// Whether a maximum of score 0 responds beyond the tail of the others, as hot voxels do in clipped noise.
/// Clipping leaves other single voxels that score like hot ones; if these were repaired, larger specks would
/// look like spots.
bool single_voxels_stand_out(const ScoredMaxima& maxima);

/// Smoothed noise with skew (speckle, deconvolved frames) has shallow minima, which do not show how high its
/// maxima are. Smoothed noise with heavy tails has a few minima as deep as maxima are high. Noise is skewed
/// if even the maxima that are not taken are higher than minima are deep; it has heavy tails if at least half
/// as many minima as taken maxima are as deep as these are high. In both cases only maxima whose responses
/// exceed the tail of the others stay taken, as in clipped frames. If maxima are higher than minima only when
/// taken ones are included, as in crowds, and none exceeds the tail, the spots are doubtful. Changes nothing
/// if most maxima are spots, or for wide filters.
NoiseTail drop_noise_tail(const Filter& filter, const ScoredMaxima& maxima, const ScoredMinima& minima,
                          const Levels& levels, std::vector<LikelySpot>& likely);

}  // namespace motes::tracking::detect
