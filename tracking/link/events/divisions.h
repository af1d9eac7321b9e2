#pragma once
/// The steps of find_divisions, for its tests.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/divisions.h>

#include "tracking/link/events/division_traits.h"
#include "tracking/link/motion/field.h"

namespace motes::tracking::detail {

/// A mother, her first daughter (by a link, or offered to an ended track) and a start that may be the second
/// daughter.
struct DivisionCandidate {
  matching::Index mother = -1, linked = -1, start = -1;
  bool offered = false;  ///< the mother's track ended: `linked` is also a start
  /// Distance of the daughters' midpoint from the expected position; of the daughters.
  double middle = 0, apart = 0;
  double residual = 0, scale = 1;  ///< residual of the link mother -> linked, and scale of such residuals
  double density = 1;              ///< density at the daughters, per cubic (square) spacing
  std::array<std::int32_t, kTraits> trait{};  ///< classes (division_traits.h)
};

/// All lengths are in spacings. `rows` counts detections that could divide, `links` those that could be
/// daughters.
struct DivisionScene {
  int dims = 3;
  std::vector<DivisionCandidate> candidates;  ///< those with links, then those of ended tracks
  std::int64_t starts = 0, links = 0, ends = 0;
  CellTracks tracks;
  std::vector<matching::Index> start_points;  ///< [starts]
  std::vector<std::int32_t> odds;             ///< [points] odds_classes, or empty
  /// [traits][classes] The number of detections that are not of a division: linked ones for ages, else
  /// starts.
  std::array<std::vector<double>, kTraits> others;
};

/// What to accept of a search.
enum class Accept {
  significant,  ///< if clearly more than backwards and misplaced: the surest
  placed,       ///< if clearly more than misplaced: all
  all
};

/// As the public functions, with the neighbours of points from `lists`. `merges`: divisions in reversed time.
/// `log_odds` [points]: of being a particle; or empty.
Divisions find_divisions(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                         const SeriesLists& lists, std::span<const double> log_odds, bool merges,
                         Accept accept);

/// Removes those of the less likely kind that use a link which one of the other kind uses.
void keep_apart(Divisions& divisions, Divisions& merges);

/// Nats by which the division is more likely than the links it replaces.
double division_gain(const DivisionModel& model, const DivisionScene& scene, const DivisionCandidate& c);

/// The most likely set of divisions, with each start and each mother in at most one. It is exact given the
/// offers, which are an exact assignment of starts to ended tracks by themselves.
std::vector<std::size_t> choose_divisions(const Execution& execution, const DivisionModel& model,
                                          const DivisionScene& scene);

/// Sets the traits of all candidates and of others, with tracks cut at the `chosen` divisions.
void set_traits(const std::vector<std::size_t>& chosen, DivisionScene& scene);

/// The model estimated from the chosen divisions.
DivisionModel fit_divisions(const DivisionModel& before, const DivisionScene& scene,
                            const std::vector<std::size_t>& chosen);

}  // namespace motes::tracking::detail
