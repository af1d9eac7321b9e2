#include "tracking/link/series/events.h"

#include "tracking/link/events/divisions.h"
#include "tracking/link/motion/axes.h"

namespace motes::tracking::detail {

void find_events(const Execution& execution, const SeriesOptions& options, SeriesPoints& linked, Rounds& best,
                 std::span<const double> log_odds, SeriesLinks& links) {
  const AsFound places(links.axes, linked);
  const SeriesLists lists(linked);
  const auto find = [&](bool merges, Accept accept) {
    return find_divisions(execution, linked, links.linking, alike(links.axes) ? best.lists() : lists,
                          log_odds, merges, accept);
  };
  const Accept accept = options.events == Events::merges      ? Accept::placed
                        : options.events == Events::divisions ? Accept::all
                                                              : Accept::significant;
  links.divisions = find(false, accept);
  if (options.events == Events::merges) links.merges = find(true, accept);
  keep_apart(links.divisions, links.merges);
  cut_at_divisions(links.divisions.list, links.linking);
  cut_at_divisions(links.merges.list, links.linking);
}

}  // namespace motes::tracking::detail
