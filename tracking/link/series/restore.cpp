#include "tracking/link/series/restore.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <motes/base/index.h>

#include "tracking/link/large/copies.h"
#include "tracking/link/motion/axes.h"
#include "tracking/link/point_order.h"

namespace motes::tracking::detail {

using matching::Index;

void take_rounds(Rounds&& best, SeriesLinks& links, bool by_position) {
  // Other candidates are too few for odds, or those of another prediction or shape.
  if (by_position && alike(links.axes) && !links.joint && best.prediction_.by_lag.empty())
    links.likely = std::make_shared<const SeriesCandidates>(std::move(best.candidates_));
  links.model = std::move(best.model_);
  links.velocity = std::move(best.velocity_);
  if (links.drift) links.prediction = std::move(best.prediction_);
  links.candidates = best.found_;
  links.windows = best.windows_;
  links.gap_nats = best.gap_nats_;
  links.edges = best.solution_.edges;
  links.false_detections = best.solution_.false_detections - std::ssize(links.jumped);
  links.objective = best.solution_.objective;
  links.verified = best.solution_.verified;
  links.solver = best.solution_.solver;
}

void restore_all(const SeriesPart& part, SeriesLinks& links) {
  const SeriesLinking linking = std::move(links.linking);
  links.linking = SeriesLinking::none(part.part.size());
  for (std::size_t k = 0; k < part.whole.size(); ++k) {
    if (linking.next[k] < 0) continue;
    const Index i = part.whole[k], j = part.whole[at(linking.next[k])];
    links.linking.next[at(i)] = j;
    links.linking.previous[at(j)] = i;
  }
  for (std::vector<Vec3>& of_part : links.prediction.by_lag) {
    std::vector<Vec3> all(part.part.size());
    for (std::size_t k = 0; k < part.whole.size(); ++k) all[at(part.whole[k])] = of_part[k];
    of_part = std::move(all);
  }
  for (Divisions* const events : {&links.divisions, &links.merges})
    for (Division& division : events->list)
      for (Index* const one : {&division.mother, &division.first, &division.second})
        *one = part.whole[at(*one)];
  scale_axes(links.axes, links.points);
  links.false_detections += static_cast<std::int64_t>(part.part.size() - part.whole.size());
}

void restore_order(const std::vector<Index>& order, SeriesLinks& links) {
  std::vector<Index> place = places_in(order, std::max(order.size(), links.copy_of.size()));
  for (std::size_t i = 0; i < links.copy_of.size(); ++i)
    if (const Index one = links.copy_of[i]; one >= 0) place[i] = place[at(one)];
  const double spacing = links.points.spacing_um;
  const std::vector<double> density = links.points.density;
  links.points = select_points(links.points, place);
  links.points.density = density;
  links.points.spacing_um = spacing;
  links.linking = select_links(links.linking, place, order);
  links.prediction = select_prediction(links.prediction, place);
  if (!links.used.empty()) {
    std::vector<char> used;
    for (const Index k : place) used.push_back(links.used[at(k)]);
    links.used = std::move(used);
  }
  for (Index& k : links.jumped) k = order[at(k)];
  std::sort(links.jumped.begin(), links.jumped.end());
  for (Divisions* const events : {&links.divisions, &links.merges}) {
    for (Division& d : events->list)
      d = {order[at(d.mother)], std::min(order[at(d.first)], order[at(d.second)]),
           std::max(order[at(d.first)], order[at(d.second)]), d.gain};
    std::sort(events->list.begin(), events->list.end(),
              [](const Division& a, const Division& b) { return a.mother < b.mother; });
  }
  if (!links.copy_of.empty()) link_copies(links);
}

void count_links(SeriesLinks& links) {
  links.links = links.linking.links();
  for (std::size_t i = 0; i < links.points.size(); ++i)
    if (const Index j = links.linking.next[i]; j >= 0)
      links.gap_links += links.points.slot[at(j)] - links.points.slot[i] > 1;
}

}  // namespace motes::tracking::detail
