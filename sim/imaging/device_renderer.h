#pragma once
/// Rendering on the GPU, without CUDA types.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <motes/sim/imaging.h>

#include "sim/imaging/render_rules.h"
#include "sim/imaging/scene.h"

namespace motes::sim::detail {

/// The reason why no GPU can render; empty if one can.
std::string why_no_device();

/// Keeps a scene's tables, a frame and a pinned copy of the frame.
class DeviceRenderer {
 public:
  /// `scene` must outlive it. Throws ResourceError.
  DeviceRenderer(const Scene& scene, int device);
  ~DeviceRenderer();
  DeviceRenderer(const DeviceRenderer&) = delete;
  DeviceRenderer& operator=(const DeviceRenderer&) = delete;

  /// Grey levels of frame t, [voxels], as u16 for any bit depth; valid until the next call. Sets device_s and
  /// copy_s. Throws ResourceError.
  const std::uint16_t* render(std::int32_t t, const std::vector<Spot>& spots, RenderTimes& times);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::sim::detail
