#pragma once
/// report.html: the results of a run as one self-contained page.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/tracking/track_set.h>

#include "app/command.h"
#include "app/run/detecting.h"
#include "app/run/linking.h"

namespace motes::app {

/// Contents of the page besides the report.
struct PageFacts {
  std::string title, summary;
  const nlohmann::ordered_json& report;  ///< contents of report.json: input, warnings and pairs are used
  std::string picture_png;               ///< bytes of preview.png; empty: none
};

/// The page. Its bytes do not depend on run times. Displacements are of links over one frame step, of at most
/// about a million points; the mean squared displacement is over all pairs of points of a track with the same
/// lag. O(points x lags).
std::string report_page(const Session& session, const Config& config, const PageFacts& facts,
                        const PointSeries& series, const tracking::Gate& gate, const TrackSet& tracks);

/// A chart of a page and the lines in it; x and y have the same length.
nlohmann::ordered_json chart(const std::string& title, const std::string& x, const std::string& y,
                             std::vector<nlohmann::ordered_json> series);
nlohmann::ordered_json series_of(const std::string& name, std::vector<double> x, std::vector<double> y);
/// The data of the 3D view: the longest tracks, up to 200,000 points.
nlohmann::ordered_json scene_of(const TrackSet& tracks);
/// The page that shows title, summary, warnings, input, parameters, charts and scene of `data`.
std::string page_of(const nlohmann::ordered_json& data, const std::string& picture_png);

/// The source of a key's value: "default", "configuration file", "--set", "--gate" ...
std::string origin_of(const Session& session, const Config& config, const std::string& key);

}  // namespace motes::app
