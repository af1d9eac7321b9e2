/// The GPU renderer of a build without CUDA: it reports why there is no device.

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>

#include "sim/imaging/device_renderer.h"

namespace motes::sim::detail {

std::string why_no_device() { return gpu::list_devices().why_none; }

struct DeviceRenderer::State {};
DeviceRenderer::DeviceRenderer(const Scene&, int) { throw ResourceError("no GPU: " + why_no_device()); }
DeviceRenderer::~DeviceRenderer() = default;
const std::uint16_t* DeviceRenderer::render(std::int32_t, const std::vector<Spot>&, RenderTimes&) {
  return nullptr;
}

}  // namespace motes::sim::detail
