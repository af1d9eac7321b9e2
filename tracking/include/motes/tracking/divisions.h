#pragma once
/// Divisions of particles in a linked series: one mother, two daughters in the next frame.
///
/// Daughters lie on opposite sides of where their mother was expected, at a distance of their own. With D the
/// share of detections that divide, S the share of detections that start a track for another reason, rho the
/// density, m the mother's expected position (where she is, or moved as her neighbours
/// are) and d1, d2 the daughters:
///
///   division of m        log D + log t((d1 + d2) / 2 - m; middle) + log N(|d1 - d2|; separation, spread)
///                          - log(area of the sphere of radius |d1 - d2|) + log 2
///   m -> d1, d2 starts   log(1 - D) + log t(d1 - m; scale) + log(S rho)
///   m ends, both start   log E + 2 log(S rho)
///
/// lengths in units of the spacing of the frame, t: Student with 5 degrees of freedom. First mothers that
/// ended near two starts get one of them by an exact assignment (a second chance); then one exact assignment
/// of all starts to all links m -> d1 says who is a second daughter of whom. All parameters come from the
/// divisions of the round before.
///
/// Cells do not merge. So the same search over the reversed series counts the divisions that chance offers,
/// and a third one, with the starts exchanged between frames, those that a growing number of tracks offers.
/// Divisions are significant only if they are clearly more.

#include <cstdint>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>
#include <motes/tracking/series_points.h>

namespace motes::tracking {

/// What events are looked for.
enum class Events {
  automatic,  ///< divisions, where the data show them
  none,
  divisions  ///< without asking whether chance explains them
};

struct Division {
  matching::Index mother = -1, first = -1, second = -1;  ///< pooled detections; first < second
  double gain = 0;  ///< nats by which the division is likelier than what it replaces
};

/// What divisions of this series look like; lengths in spacings (median distance of nearest neighbours).
struct DivisionModel {
  double share = 0.01;      ///< of detections that divide
  double start = 0.01;      ///< of detections that begin a track for another reason
  double end = 0.01;        ///< of detections that end one
  double middle = 0.2;      ///< scale of the distance from the daughters' middle to the expected position
  double separation = 0.7;  ///< of the daughters, median
  double spread = 0.3;      ///< of the separation, 1.48 median absolute deviations
};

struct Divisions {
  std::vector<Division> list;  ///< rising by mother; none where they are not significant
  DivisionModel model;         ///< of the search
  std::int64_t found = 0;      ///< divisions that the search found
  std::int64_t backwards = 0;  ///< the same in the reversed series
  std::int64_t misplaced = 0;  ///< the same with the starts exchanged between frames
  bool neighbours = false;     ///< mothers were expected to move as their neighbours' links do
  bool significant = false;    ///< found is clearly more than either
  double by_chance() const { return static_cast<double>(backwards > misplaced ? backwards : misplaced); }
};

/// The divisions of a linked series; with `assume_significant` without the comparison with chance. O(links
/// log links). The same for any thread count.
Divisions find_divisions(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                         bool assume_significant);

/// Takes links from mothers to daughters out of a linking: tracks end where they divide.
void cut_at_divisions(const std::vector<Division>& divisions, SeriesLinking& linking);

}  // namespace motes::tracking
