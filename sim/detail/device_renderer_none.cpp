#include "matching/device/device.h"
#include "sim/detail/device_renderer.h"
#include "tracking/types/errors.h"

namespace motes::sim::detail {

std::string why_no_device() { return matching::list_devices().why_none; }

struct DeviceRenderer::State {};
DeviceRenderer::DeviceRenderer(const Scene&, int) { throw ResourceError("no GPU: " + why_no_device()); }
DeviceRenderer::~DeviceRenderer() = default;
const std::uint16_t* DeviceRenderer::render(std::int32_t, const std::vector<Spot>&, RenderTimes&) {
  return nullptr;
}

}  // namespace motes::sim::detail
