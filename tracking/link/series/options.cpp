#include "tracking/link/series/options.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <motes/base/errors.h>
#include <motes/matching/registry.h>

#include "tracking/link/series/node_model.h"

namespace motes::tracking {

void check_options(const SeriesOptions& options) {
  if (options.max_gap < 0) throw UsageError("linking.max_gap must not be negative");
  if (options.exclusion_um && !(*options.exclusion_um >= 0))
    throw UsageError("linking.exclusion_um must not be negative");
  if (options.gate.bounded()) require_length(options.gate);
  if (options.solver == "auto") return;
  const matching::SolverInfo* info = matching::find_solver(options.solver);
  if (info == nullptr || info->family() != matching::Family::assignment)
    throw UsageError("linking.solver: no assignment solver is called '" + options.solver +
                     "'; `motes info` lists them");
}

void check_unit(const SeriesPoints& points) {
  constexpr double kMostSpacing = 1e20;
  if (points.spacing_um >= 1 / kMostSpacing && points.spacing_um <= kMostSpacing) return;
  std::ostringstream message;
  message << "the detections are about " << points.spacing_um
          << " apart; a series is linked where that is 1e-20 to 1e20: give positions in another unit, or use "
             "linking.scope: pairs";
  throw InputError(message.str());
}

void choose_properties(const SeriesOptions& options, SeriesPoints& points) {
  if (!options.features) {
    if (points.properties.size() > kMostProperties) points.properties.resize(kMostProperties);
    return;
  }
  std::vector<PropertyColumn> chosen;
  for (const std::string& name : *options.features) {
    const auto found = std::find_if(points.properties.begin(), points.properties.end(),
                                    [&](const PropertyColumn& column) { return column.name == name; });
    if (found == points.properties.end()) {
      std::string known;
      for (const PropertyColumn& column : points.properties) known += " " + column.name;
      throw UsageError("linking.features: detections have no property '" + name +
                       "'; they have:" + (known.empty() ? " none" : known));
    }
    chosen.push_back(*found);
  }
  points.properties = std::move(chosen);
}

}  // namespace motes::tracking
