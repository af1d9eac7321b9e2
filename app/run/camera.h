#pragma once
/// The camera model that detection uses: from the configuration, or estimated from frames of the series.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/tracking/camera.h>

#include "app/console.h"
#include "app/options/config.h"

namespace motes::app {

struct Camera {
  tracking::CameraModel model;       ///< used by fits
  tracking::CameraModel told;        ///< the same, with unset values from the noise, for reports
  std::optional<double> gain_error;  ///< standard error of an estimated gain
  std::string source;                ///< the keys it came from, or the frames it was estimated on
};

/// Throws UsageError if keys of the camera are set without detection.camera_gain.
void check_camera(const Config::Detection& detection);

/// None if detection.camera_gain is none, or (with a warning) if it is auto and the frames do not determine
/// it. `noise_of`: the noise around the spots of the k-th sampled frame; called only if the gain is to be
/// estimated.
std::optional<Camera> settle_camera(
    const Config::Detection& detection, std::size_t frames,
    const std::function<std::optional<tracking::VoxelNoise>(std::size_t)>& noise_of, Console& console);

/// "2.1 +- 0.04 grey levels per photon, offset 100, read noise 3.2 (estimated on 5 frames)"
std::string camera_text(const Camera& camera);

/// {gain, gain_error, offset, read_noise, source}; null where unknown.
nlohmann::ordered_json camera_json(const Camera& camera);

}  // namespace motes::app
