#pragma once
/// What `track` and `merge` share: from points to the folder of results.

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/command.h"
#include "app/detecting.h"
#include "app/linking.h"

namespace motes::app {

/// The outputs' names without their extensions, for OutputFolder.
std::vector<std::string> result_stems();

/// Tracks with everything that the series and its links tell, as they are written.
TrackSet tracks_of(const PointSeries& series, const LinkedSeries& linked);

/// The tracks of at least linking.min_length points. The console says how many were removed as noise.
TrackSet kept_tracks(const Config& config, const PointSeries& series, const LinkedSeries& linked,
                     Console& console);

/// Links the series, writes every file of the results into `dir`, and prints what came out. `report` begins
/// report.json: the command and its input. Throws as link_series and the writers do.
void link_and_write(Session& session, const Config& config, const PointSeries& series,
                    const std::filesystem::path& dir, nlohmann::ordered_json report);

}  // namespace motes::app
