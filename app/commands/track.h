#pragma once
/// Shared by `track` and `merge`: from points to the folder of results.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/tracking/pooled_detections.h>

#include "app/command.h"
#include "app/run/detecting.h"
#include "app/run/linking.h"

namespace motes::app {

/// The outputs' names without their extensions, for OutputFolder.
std::vector<std::string> result_stems();

/// The tracks of at least linking.min_length points, with all properties, as written to files. A note tells
/// how many were removed as noise. `detections`: those of `series`, whose frames are not used.
TrackSet kept_tracks(const Config& config, const PointSeries& series, const PooledDetections& detections,
                     const LinkedSeries& linked, Console& console);

/// Links the series, writes all result files into `dir`, and prints a summary. `report` is the beginning of
/// report.json: the command and its input. Throws the errors of link_series and the writers.
void link_and_write(Session& session, const Config& config, PointSeries series,
                    const std::filesystem::path& dir, nlohmann::ordered_json report);

}  // namespace motes::app
