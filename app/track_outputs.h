#pragma once
/// The output files of `motes track`, except for the report.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/track_set.h>

#include "app/config.h"
#include "app/detecting.h"
#include "app/linking.h"

namespace motes::app {

struct WrittenFile {
  std::string name;
  double seconds = 0;  ///< files are written side by side, so these add up to more than the whole took
};

/// Writes them into `dir`; the tables, VTK's files and the picture side by side where threads are allowed.
/// Throws as io's writers.
std::vector<WrittenFile> write_track_outputs(const Execution& execution, const Config& config,
                                             const std::filesystem::path& dir, const PointSeries& series,
                                             const TrackSet& tracks, const LinkedSeries& linked);

}  // namespace motes::app
