#pragma once
/// The output files of `motes track`, except for the report.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/pooled_detections.h>
#include <motes/tracking/track_set.h>

#include "app/options/config.h"
#include "app/run/detecting.h"
#include "app/run/linking.h"

namespace motes::app {

struct WrittenFile {
  std::string name;
  double seconds = 0;  ///< files are written in parallel, so the sum exceeds the elapsed time
};

/// Writes the files into `dir`: HDF5 files, tables, and VTK files with the picture in parallel if threads are
/// allowed. `detections`: those of `series`, whose frames are not used; freed once written. Throws as io's
/// writers.
std::vector<WrittenFile> write_track_outputs(const Execution& execution, const Config& config,
                                             const std::filesystem::path& dir, const PointSeries& series,
                                             PooledDetections detections, const TrackSet& tracks,
                                             const LinkedSeries& linked);

}  // namespace motes::app
