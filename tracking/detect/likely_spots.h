#pragma once
/// Which maxima of a frame are taken for spots beside those whose scores pass the levels; choice.cpp calls
/// these rules in order. Lists of likely spots are in storage order, each maximum at most once.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "tracking/detect/choice.h"
#include "tracking/detect/skewed_noise.h"

namespace motes::tracking::detect {

constexpr double kUnmistakableGap = 2;  ///< ratio of responses above and below

inline std::size_t count_over(std::span<const double> ascending, double level) {
  return static_cast<std::size_t>(ascending.end() -
                                  std::lower_bound(ascending.begin(), ascending.end(), level));
}

/// The highest of the values below `level`; 0 where there are none.
inline double highest_below(std::span<const double> ascending, double level) {
  const std::size_t below = ascending.size() - count_over(ascending, level);
  return below == 0 ? 0 : ascending[below - 1];
}

/// Between `level` and the highest of the values below it.
inline double middle_of_gap(std::span<const double> ascending, double level) {
  const double below = highest_below(ascending, level);
  return below == 0 || !std::isfinite(level) ? level : std::sqrt(level * below);
}

inline std::size_t count_taken(const std::vector<LikelySpot>& likely) {
  return static_cast<std::size_t>(
      std::count_if(likely.begin(), likely.end(), [](const LikelySpot& one) { return one.taken; }));
}

/// Spots side by side are not round. Unround maxima that score as round spots do, and touch another maximum
/// that does and responds about as strongly, are spots too, where two fifths of the round spots touch one.
void take_touching(const Execution& execution, const Filter& filter, std::vector<LikelySpot>& likely);

/// Neighbours lower the scores of objects such as nuclei, and neighbours and texture make them unround. Where
/// most of what stands clear of all other maxima is round, those that score a third of what the typical round
/// spot scores are spots too. Edges and filaments are many more, and ghosts between spots score less.
/// `clear`: the least of these responses.
void take_disturbed(const ScoredMaxima& maxima, double clear, std::vector<LikelySpot>& likely);

/// What responses say where noise was smoothed: `likely` spots without those of the levels' crowd that are
/// noise by response, and with the spots that are told by response, where these make them `enough` times as
/// many.
void take_by_response(const Filter& filter, const ScoredMaxima& maxima, double stretch, double enough,
                      Levels& levels, std::vector<LikelySpot>& likely);

/// In frames that were clipped scores say little: taken are the round maxima whose responses exceed what the
/// tail of the others reaches (tail_law.h), or else those that stand clear of the rest. Nothing is changed
/// where most maxima are spots, or where smoothed noise was clipped and responses give hardly fewer spots
/// than scores: in crowds scores tell more.
void take_of_clipped(const Filter& filter, const ScoredMaxima& maxima, Clipping clipping, Levels& levels,
                     std::vector<LikelySpot>& likely);

/// Of noise that was clipped, single voxels are left that score as hot ones do; once they are repaired,
/// larger specks look like spots. Whether any maximum that scores nothing responds more than the tail of the
/// others reaches, as hot voxels do there.
bool single_voxels_stand_out(const ScoredMaxima& maxima);

/// What the tail of smoothed noise says of the spots that are taken.
struct NoiseTail {
  std::size_t dropped = 0;  ///< are no longer taken
  bool doubtful = false;    ///< those that stay taken may all be noise
};

/// Smoothed noise that is skewed (speckle, deconvolved frames) has shallow minima, by which scores and
/// responses are judged in vain; that of heavy tails has a few minima as deep as maxima are high. It is the
/// former where even the maxima that are not taken are higher than minima are deep, the latter where as many
/// minima are as deep as the taken ones are high. Then only those stay taken whose responses exceed what the
/// tail of the others reaches, as in clipped frames. Where only all maxima together are higher, as in crowds,
/// and nothing exceeds the tail, the spots are doubtful. Nothing is changed where most maxima are spots, nor
/// for wide filters.
NoiseTail drop_noise_tail(const Filter& filter, const ScoredMaxima& maxima, const ScoredMinima& minima,
                          const Levels& levels, std::vector<LikelySpot>& likely);

}  // namespace motes::tracking::detect
