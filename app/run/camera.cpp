#include "app/run/camera.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>

namespace motes::app {
namespace {

constexpr double kSure = 0.2;  // largest relative standard error of a gain that is used

tracking::CameraModel known_camera(const Config::Detection& detection) {
  return {detection.camera_gain.value_or(std::nullopt), detection.camera_offset, detection.read_noise};
}

/// The photon transfer line of several frames, each weighted by how well it determines the slope.
struct Transfer {
  tracking::VoxelNoise line;
  std::size_t frames = 0;
};

Transfer photon_transfer(std::size_t frames,
                         const std::function<std::optional<tracking::VoxelNoise>(std::size_t)>& noise_of) {
  Transfer all;
  double sum = 0;
  for (std::size_t k = 0; k < frames; ++k) {
    const auto noise = noise_of(k);
    if (!noise || !std::isfinite(noise->slope_error) || !(noise->slope_error > 0)) continue;
    const double weight = 1 / (noise->slope_error * noise->slope_error);
    sum += weight;
    ++all.frames;
    const double share = weight / sum;
    const auto mean = [&](double& value, double next) { value += share * (next - value); };
    mean(all.line.base, noise->base);
    mean(all.line.slope, noise->slope);
    mean(all.line.level, noise->level);
    mean(all.line.variance, noise->variance);
  }
  all.line.slope_error = sum > 0 ? 1 / std::sqrt(sum) : 0;
  return all;
}

std::string keys_given(const Config::Detection& detection) {
  std::string keys = "detection.camera_gain";
  if (detection.camera_offset) keys += ", camera_offset";
  if (detection.read_noise) keys += ", read_noise";
  return keys;
}

nlohmann::ordered_json json_of(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

void check_camera(const Config::Detection& detection) {
  if (detection.camera_gain || !(detection.camera_offset || detection.read_noise)) return;
  throw UsageError(std::string("detection.") + (detection.camera_offset ? "camera_offset" : "read_noise") +
                   ": set detection.camera_gain as well (a number, or auto)");
}

std::optional<Camera> settle_camera(
    const Config::Detection& detection, std::size_t frames,
    const std::function<std::optional<tracking::VoxelNoise>(std::size_t)>& noise_of, Console& console) {
  if (!detection.camera_gain) return std::nullopt;
  Camera camera;
  camera.model = camera.told = known_camera(detection);
  camera.source = keys_given(detection);
  if (camera.model.gain) return camera;
  const Transfer transfer = photon_transfer(frames, noise_of);
  camera.told = tracking::camera_from_noise(transfer.line, camera.model);
  const double gain = camera.told.gain.value_or(0);
  if (transfer.frames == 0 || !(gain > 0) || !(transfer.line.slope_error < kSure * gain)) {
    console.warn(fmt::format(
        "detection.camera_gain: the noise of {} frames does not determine it (variance grows by {:.3g} "
        "+- {:.3g} per grey level), so spots get no photons; set it to the camera's grey levels per photon",
        frames, transfer.line.slope, transfer.line.slope_error));
    return std::nullopt;
  }
  camera.model.gain = gain;
  camera.gain_error = transfer.line.slope_error;
  camera.source = fmt::format("estimated on {} frame{}", transfer.frames, transfer.frames == 1 ? "" : "s");
  return camera;
}

std::string camera_text(const Camera& camera) {
  const auto text = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g}", *value) : std::string("from each frame's noise");
  };
  return fmt::format("{}{} grey levels per photon, offset {}, read noise {} ({})", text(camera.told.gain),
                     camera.gain_error ? fmt::format(" +- {:.2g}", *camera.gain_error) : "",
                     text(camera.told.offset), text(camera.told.read_noise), camera.source);
}

nlohmann::ordered_json camera_json(const Camera& camera) {
  return {{"gain", json_of(camera.told.gain)},
          {"gain_error", json_of(camera.gain_error)},
          {"offset", json_of(camera.told.offset)},
          {"read_noise", json_of(camera.told.read_noise)},
          {"source", camera.source}};
}

}  // namespace motes::app
