#pragma once
/// The steps of find_divisions, for its tests.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/divisions.h>

#include "tracking/link/series_field.h"

namespace motes::tracking::detail {

/// A mother, her first daughter (by her link, or offered by the second chance) and a start that may be the
/// second one.
struct DivisionCandidate {
  matching::Index mother = -1, linked = -1, start = -1;
  bool offered = false;            ///< the mother ended: `linked` is a start too
  double middle = 0, apart = 0;    ///< of the expected position and the daughters' middle; of the daughters
  double residual = 0, scale = 1;  ///< of the link mother -> linked, and of such links
  double density = 1;              ///< at the daughters, per cubic (square) spacing
};

/// Everything in spacings. `rows` and `links` count what could divide and be a daughter.
struct DivisionScene {
  int dims = 3;
  std::vector<DivisionCandidate> candidates;  ///< of links, then of mothers that ended
  std::int64_t starts = 0, links = 0, ends = 0;
};

/// As the public one, with the points' neighbours from `lists`.
Divisions find_divisions(const Execution& execution, const SeriesPoints& points, const SeriesLinking& linking,
                         const SeriesLists& lists, bool assume_significant);

/// Nats by which the division is likelier than what it replaces.
double division_gain(const DivisionModel& model, const DivisionScene& scene, const DivisionCandidate& c);

/// The likeliest set of divisions: each start and each mother in at most one. Exact for candidates of links
/// beside the offers chosen first (each ended mother at most one start, exact by itself).
std::vector<std::size_t> choose_divisions(const Execution& execution, const DivisionModel& model,
                                          const DivisionScene& scene);

/// The model that those divisions show.
DivisionModel fit_divisions(const DivisionModel& before, const DivisionScene& scene,
                            const std::vector<std::size_t>& chosen);

}  // namespace motes::tracking::detail
