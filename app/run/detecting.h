#pragma once
/// Detection in a volume series, one frame at a time; shared by `detect` and `track`.

#include <string>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>
#include <motes/io/frame_source.h>
#include <motes/io/preview.h>
#include <motes/tracking/detections.h>

#include "app/cli.h"
#include "app/console.h"
#include "app/options/config.h"
#include "app/report/report.h"
#include "app/run/frame_finder.h"
#include "app/run/run_checkpoint.h"

namespace motes::app {

/// The points of every kept frame, from images or a table, and the estimated settings.
struct PointSeries : DetectionSeries {
  std::vector<FrameSummary> summaries;
  io::Projection projection;              ///< empty for tables
  std::optional<Vec3> radius_um;          ///< none: labels, or a table
  std::optional<Vec3> largest_radius_um;  ///< none: one size
  std::string radius_source;
  std::optional<Camera> camera;     ///< none: fits estimate each frame's noise
  std::optional<FaintSpots> faint;  ///< none: spots are not faint, or the settings decide
  Backend backend = Backend::cpu;   ///< cuda if any frame was searched on a GPU
  StageTime stage;
};

/// The multiples of `step` below `frames` that are in `range`.
std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range = {});

/// The same for a configuration and its input. Throws UsageError if no frame is kept.
std::vector<std::int32_t> frames_to_detect(const Config& config, const io::FrameSource& source);

/// Finds the spots (or labels) of every kept frame with FrameFinder, for `purpose`. `checkpoint` may be null.
/// With `ranks`, each rank searches a share of the frames; only rank 0 has a checkpoint and returns the whole
/// series. Throws UsageError if no frame is kept, Interrupted after a finished frame, and the errors of io
/// and tracking; all ranks throw.
PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, Purpose purpose, RunCheckpoint* checkpoint,
                          Communicator* ranks = nullptr);

/// {radius_um_zyx, radius_source, backend}, largest_radius_um_zyx if sizes differ, camera if known, and for
/// faint spots false_positives_per_frame with false_positives_source.
nlohmann::ordered_json detection_json(const PointSeries& series);

/// The points of a table, without the frames that input.frame_step and input.frames drop. Throws InputError
/// if none is left.
PointSeries series_of_points(io::PointTable points, const Config& config);

}  // namespace motes::app
