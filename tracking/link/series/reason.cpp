#include "tracking/link/series/reason.h"

#include <algorithm>
#include <cstdio>

#include "tracking/link/series/rounds.h"

namespace motes::tracking {
namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

std::string reason_of(const SeriesLinks& links) {
  const SeriesEvidence& e = links.evidence;
  std::string text =
      links.rotation ? "all rotate together: links are likelier by " +
                           number(std::min({e.plain, e.field.value_or(e.plain), e.drift.value_or(e.plain)}) -
                                  *e.rotation) +
                           " nats a detection"
      : links.drift ? "all move together: links are likelier by " +
                          number(std::min(e.plain, *e.field) - *e.drift) + " nats a detection"
      : links.chosen == MotionModel::field ? "neighbours move together: links are likelier by " +
                                                 number(e.plain - *e.field) + " nats a detection"
      : e.field ? "neighbours do not move together"
      : e.coherence > kLeastCoherence
          ? "neighbours move together: links are likelier by " + number(e.coherence) + " nats a link"
          : "neighbours do not move together";
  if (e.beta && e.velocity)
    text += (!links.persistent          ? "; particles do not keep their direction, beta "
             : *e.beta <= -kLeastReturn ? "; particles return to where they were, beta "
             : *e.beta < kLeastBeta     ? "; fast particles stay fast, beta "
                                        : "; particles keep their direction, beta ") +
            number(*e.beta);
  if (e.joint)
    text +=
        links.joint ? "; motion over all frames at once" : "; motion over all frames at once is less likely";
  if (!links.points.log_odds.empty() && links.used.empty()) text += "; properties tell false detections";
  for (const std::string& skipped : links.skipped) text += "; not tried, to save time: " + skipped;
  return text;
}

}  // namespace motes::tracking
