#pragma once
/// A volume series in, detections out, one frame at a time; shared by `detect` and `track`.

#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/io/frame_source.h>
#include <motes/io/preview.h>
#include <motes/tracking/detections.h>

#include "app/cli.h"
#include "app/config.h"
#include "app/console.h"
#include "app/frame_log.h"
#include "app/report.h"

namespace motes::app {

/// The points of every kept frame, wherever they came from, and what was learnt on the way.
struct PointSeries {
  std::vector<Detections> frames;
  std::vector<FrameSummary> summaries;
  std::string length_unit = "um";
  std::optional<double> dt_s;
  Vec3 voxel_um{1, 1, 1};
  io::Projection projection;  ///< empty for tables
  std::optional<Vec3> radius_um;
  std::string radius_source;
  StageTime stage;
};

/// Numbers of the frames in `range` that input.frame_step keeps.
std::vector<std::int32_t> kept_frames(std::int32_t frames, std::int32_t step, const FrameRange& range = {});

struct SpotRadius {
  Vec3 um;
  std::string source;  ///< the key it came from, or the frame it was estimated on
};

/// The spot radius from detection.radius_um, else estimated on the whole series whatever input.frames says,
/// so that parts of a series agree. Where no frame shows spots, warns and takes a usual one.
SpotRadius choose_radius(const Execution& execution, const Config& config, io::FrameSource& source,
                         Console& console);

/// Finds the spots of every kept frame, with the radius of choose_radius(). `log` may be null. Throws
/// UsageError where no frame is kept, Interrupted after a finished frame, and as io and tracking do.
PointSeries detect_series(const Execution& execution, const Config& config, io::FrameSource& source,
                          Console& console, const Hooks& hooks, FrameLog* log);

/// {radius_um_zyx, radius_source}
nlohmann::ordered_json detection_json(const PointSeries& series);

/// The points of a table, without the frames that input.frame_step and input.frames drop. Throws InputError
/// where none is left.
PointSeries series_of_points(io::PointTable points, const Config& config);

}  // namespace motes::app
