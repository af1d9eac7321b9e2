#pragma once
/// Detection in a single frame: spots or labels. Settings that all frames share are resolved once.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/base/workspace.h>
#include <motes/io/frame_source.h>
#include <motes/tracking/log_detector.h>

#include "app/console.h"
#include "app/options/config.h"
#include "app/run/camera.h"
#include "app/run/companion.h"
#include "app/run/faint_spots.h"
#include "app/run/spot_radius.h"

namespace motes::app {

/// Whether detections are labels rather than spots.
bool finds_labels(const Config& config);

class FrameFinder {
 public:
  /// Opens the mask or labels; determines the radii (choose_radius), then the camera, and for tracks whether
  /// spots are faint (settle_faint_spots). `source` must outlive this. On GPUs, frames go to `devices` (if
  /// empty: to execution.device). Throws Interrupted, and as io and tracking do.
  FrameFinder(const Execution& execution, const Config& config, io::FrameSource& source, Console& console,
              std::vector<int> devices = {}, Purpose purpose = Purpose::spots);

  /// Detections in a frame of the series: look_at, then settle. `report`: filled as by detect_spots.
  Detections find(const VolumeFrame& frame, tracking::DetectionReport& report);

  /// Whether look_at may be called for several frames at once: only if it reads no mask and no labels.
  bool looks_in_parallel() const { return !mask_ && !labels_ && radius_.has_value(); }

  /// The number of frames that may be in memory at once, at least 1.
  std::int64_t most_at_once() const;

  /// Detections from this frame alone. `execution`: one of executions().
  Detections look_at(const Execution& execution, const VolumeFrame& frame, tracking::DetectionReport& report);

  /// Frame t of the series. Thread-safe: one thread reads at a time. `seconds` (may be null) receives the
  /// time of this read.
  VolumeFrame read(std::int32_t t, double* seconds = nullptr);

  /// A reader for one of several threads, as FrameSource::again.
  std::unique_ptr<io::FrameSource> another_source() const { return source_.again(); }

  /// Whether settle() reads the frame's voxels.
  bool settles_by_voxels(const tracking::DetectionReport& report) const {
    return mask_ || labels_ || finds_labels(config_) || report.blends;
  }

  /// The final detections, from those of look_at: uses other frames to decide whether spots near the noise
  /// are texture, and adds properties from the mask.
  Detections settle(const VolumeFrame& frame, Detections found, tracking::DetectionReport& report);

  /// The executions for look_at: on a GPU if requested, or if it is faster for this series. Each serves one
  /// call of look_at at a time; this object keeps its memory. There are several if frames are best searched
  /// in parallel; settle() then has another one.
  const std::vector<Execution>& executions() const { return executions_; }

  /// None for labels.
  const std::optional<SpotRadius>& radius() const { return radius_; }
  /// None: fits estimate the noise of each frame.
  const std::optional<Camera>& camera() const { return camera_; }
  /// None: only spots that stand out from the noise of their frame are found, or the settings decide.
  const std::optional<FaintSpots>& faint() const { return faint_; }

 private:
  VolumeFrame part_of(const VolumeFrame& frame) const;
  tracking::DetectionOptions options() const;
  /// `options` without a mask; the frame's mask is added.
  Detections find_with(const Execution& execution, const VolumeFrame& frame,
                       tracking::DetectionOptions options, tracking::DetectionReport& report);
  /// Whether most frames of the series show spots well above the noise. Samples some frames, once.
  bool series_shows_spots(const tracking::DetectionOptions& options);
  Detections find_labels(const VolumeFrame& frame);
  void settle_executions(const Execution& execution, std::vector<int> devices);
  void settle_camera(const Execution& execution, Console& console);
  void settle_faint(const Execution& execution, Console& console);

  /// The execution that settle() uses.
  const Execution& settling() const { return settling_ ? *settling_ : executions_.front(); }

  std::vector<Workspace> workspaces_;
  std::vector<Execution> executions_;  ///< at least one
  std::optional<Execution> settling_;  ///< none: the first of executions_
  Config config_;
  std::unique_ptr<Companion> mask_, labels_;
  std::optional<SpotRadius> radius_;
  std::optional<Camera> camera_;
  std::optional<FaintSpots> faint_;
  io::FrameSource& source_;
  std::mutex reading_;  ///< of source_
  std::optional<bool> series_shows_spots_;
};

}  // namespace motes::app
