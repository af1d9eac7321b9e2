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
#include "app/config.h"
#include "app/console.h"
#include "app/frame_finder.h"
#include "app/report.h"
#include "app/run_checkpoint.h"

namespace motes::app {

/// The points of every kept frame, from images or a table, and the settings that were estimated.
struct PointSeries : DetectionSeries {
  std::vector<FrameSummary> summaries;
  io::Projection projection;              ///< empty for tables
  std::optional<Vec3> radius_um;          ///< none: labels, or a table
  std::optional<Vec3> largest_radius_um;  ///< none: one size
  std::string radius_source;
  std::optional<Camera> camera;    ///< none: by each frame's noise
  Backend backend = Backend::cpu;  ///< cuda where frames were searched on a GPU
  StageTime stage;
};

/// Numbers of the frames in `range` that input.frame_step keeps.
std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range = {});

/// The same for a configuration and its input. Throws UsageError if no frame is kept.
std::vector<std::int32_t> frames_to_detect(const Config& config, const io::FrameSource& source);

/// Finds the spots of every kept frame, or its labels, as FrameFinder does. `checkpoint` may be null. With
/// `ranks`, each detects in a share of the frames, and rank 0, which alone has a checkpoint, returns the
/// whole series. Throws UsageError if no frame is kept, Interrupted after a finished frame, and as io and
/// tracking do; always on every rank.
PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, RunCheckpoint* checkpoint,
                          Communicator* ranks = nullptr);

/// {radius_um_zyx, radius_source, backend}, largest_radius_um_zyx where sizes differ, and what is known of
/// the camera
nlohmann::ordered_json detection_json(const PointSeries& series);

/// The points of a table, without the frames that input.frame_step and input.frames drop. Throws InputError
/// if none is left.
PointSeries series_of_points(io::PointTable points, const Config& config);

}  // namespace motes::app
