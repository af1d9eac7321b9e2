#pragma once
/// Other first linkings of a series than nearest neighbours: estimates that start from those can end far from
/// the most likely ones.

#include <cstddef>
#include <functional>
#include <optional>

#include <motes/tracking/series_links.h>

#include "tracking/link/series/rounds.h"

namespace motes::tracking {

/// Limit of `automatic`: most detections for other starts and for a field (about 30 microseconds each on two
/// cores). It is a count, so that it is the same on every machine.
inline constexpr std::size_t kMostForField = 3'000'000;

/// Rounds without prediction that start from links frame to frame; the more likely linking is kept in `best`.
/// (Estimates that start from nearest neighbours can end without all particles that move farther.) Returns
/// the other rounds, if their linking differs: if particles keep their direction and move as far as their
/// spacing, the less likely one can be the better start for persistence. `met`: both lead to one linking.
std::optional<Rounds> start_from_pairs(const Execution& execution, const SeriesOptions& options,
                                       const std::function<void(int)>& done, Rounds& best, bool& met,
                                       SeriesLinks& out);

/// Rounds without prediction that start from the displacements and the share of partners that pair counts
/// show, and take the others for false detections; replace `best` if they are more likely. Detections on
/// no track cost no penalty here (kNatsOfFalse) if they do not move on as particles do. (If most detections
/// are false, their links to nearest neighbours hide the displacements of particles.) Tried only if few
/// detections surely have a partner but `best` links most, and if particles move far less than their
/// spacing. Returns whether `best` was replaced.
bool start_among_false(const Execution& execution, const SeriesOptions& options,
                       const std::function<void(int)>& done, Rounds& best, SeriesLinks& out);

/// Rounds with persistence that start from straight links (straight.h), if these are more likely, else
/// `best`. (Particles that keep their direction and move about as far as their spacing, or farther, are not
/// found from links without it.) Tried only if few detections surely have a partner, links are long, or
/// detections are on no track. `times`: as of with_beliefs.
Rounds or_straight(const Execution& execution, const SeriesOptions& options,
                   const std::function<void(int)>& done, double times, Rounds best, SeriesLinks& out);

}  // namespace motes::tracking
