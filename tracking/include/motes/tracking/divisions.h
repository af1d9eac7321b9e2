#pragma once
/// Divisions of particles in a linked series: one mother, two daughters in the next frame.
///
/// Daughters lie on opposite sides of the position expected for their mother, at a typical distance from each
/// other. The model compares three explanations. D is the share of detections that divide; S and E are the
/// shares that start a track for another reason and that end one. rho is the density, m the expected position
/// of the mother (where she is, or moved like her neighbours), and d1, d2 are the daughters:
///
///   m divides            log D + log t((d1 + d2) / 2 - m; middle) + log N(|d1 - d2|; separation, spread)
///                          - log(area of the sphere of radius |d1 - d2|) + log 2
///   m -> d1, d2 starts   log(1 - D) + log t(d1 - m; scale) + log(S rho)
///   m ends, both start   log E + 2 log(S rho)
///
/// Lengths are in units of the frame's spacing; t is Student's t with 5 degrees of freedom, N the normal
/// density. A division also gains the log of the ratio of its traits' frequencies among divisions and among
/// other links and starts: mothers are seldom young, and daughters last. The search has two exact
/// assignments. The first links tracks that end near two starts to one of the two, so that they can be
/// mothers. The second assigns starts to links m -> d1: such a start is the second daughter of m. All
/// parameters come from the divisions of the round before.
///
/// Chance also makes patterns that look like divisions. Cells do not merge, so the same search over the
/// reversed series counts what chance makes. A third search, with the starts exchanged between frames, counts
/// what a growing number of tracks makes. Divisions are significant only if they are clearly more, and
/// likelier, than either finds.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// The events to look for.
enum class Events {
  automatic,  ///< divisions, if they are significant
  none,
  divisions,  ///< divisions, significant or not
  merges      ///< divisions and merges, each if they are more than misplaced starts explain
};

struct Division {
  /// Pooled detections (series_points.h); first < second.
  matching::Index mother = -1, first = -1, second = -1;
  double gain = 0;  ///< nats by which the division is more likely than the links it replaces
};

/// Number of traits of mothers and daughters that are evidence for a division.
inline constexpr std::size_t kTraits = 3;

/// The appearance of divisions in a series. Lengths are in spacings (median distance of nearest neighbours).
struct DivisionModel {
  double share = 0.01;  ///< of detections that divide
  double start = 0.01;  ///< of detections that start a track for another reason
  double end = 0.01;    ///< of detections that end one
  /// Scale of the distance between the daughters' midpoint and the mother's expected position.
  double middle = 0.2;
  double separation = 1;  ///< median distance between daughters
  double spread = 0.7;    ///< of that distance: 1.48 median absolute deviations
  /// Nats of evidence by class of three traits: frames since the mother's birth, frames until the second
  /// daughter ends or divides, and her odds of being a particle. Empty: none.
  std::array<std::vector<double>, kTraits> evidence;
};

struct Divisions {
  std::vector<Division> list;  ///< in order of mother; empty if divisions are not significant
  DivisionModel model;         ///< that the search ended with
  std::int64_t found = 0;      ///< number of divisions that the search found
  /// How many of them the reversed series and starts exchanged between frames explain: twice the number of
  /// divisions found there that are as likely as the median of these. None: not searched.
  std::optional<std::int64_t> backwards, misplaced;
  bool neighbours = false;   ///< whether mothers are expected to move like their neighbours
  bool significant = false;  ///< they are clearly more, and likelier, than those by chance
  /// The larger of the two numbers; 0 if neither is known.
  std::int64_t by_chance() const { return std::max(backwards.value_or(0), misplaced.value_or(0)); }
};

/// The divisions of a linked series. `assume_significant`: omit the comparison with chance. The same for any
/// thread count. O(links log links).
Divisions find_divisions(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                         bool assume_significant);

/// Merges: two particles become one in the next frame. They are divisions in reversed time, with the same
/// model and search: `mother` is the merged particle, `first` and `second` are those before; `backwards`
/// counts in the series' own direction. Ages and lives are exchanged.
Divisions find_merges(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                      bool assume_significant);

/// Removes the links between mothers and daughters from a linking, so that tracks end where they divide or
/// merge.
void cut_at_divisions(const std::vector<Division>& divisions, SeriesLinking& linking);

}  // namespace motes::tracking
