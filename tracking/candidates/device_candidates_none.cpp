/// Replaces device_candidates.cu in a build without CUDA.

#include <motes/base/gpu/device.h>
#include <motes/base/workspace.h>

#include "tracking/candidates/device_candidates.h"

namespace motes::tracking {
namespace detail {
struct FrameMemory {};
struct GraphMemory {};
}  // namespace detail
namespace {
[[noreturn]] void no_device() {
  throw ResourceError("no GPU: " + gpu::list_devices().why_none + "; use the cpu back end");
}
}  // namespace

DeviceFrame::DeviceFrame(int) { no_device(); }
DeviceFrame::~DeviceFrame() = default;
DeviceFrame::DeviceFrame(DeviceFrame&&) noexcept = default;
DeviceFrame& DeviceFrame::operator=(DeviceFrame&&) noexcept = default;
void DeviceFrame::load(const Execution&, const Detections&, const CandidateTerms&) { no_device(); }

DeviceCandidates::DeviceCandidates(int) { no_device(); }
DeviceCandidates::~DeviceCandidates() = default;
DeviceCandidates::DeviceCandidates(DeviceCandidates&&) noexcept = default;
DeviceCandidates& DeviceCandidates::operator=(DeviceCandidates&&) noexcept = default;
DeviceCandidateGraph DeviceCandidates::build(const DeviceFrame&, const DeviceFrame&, const CandidateOptions&,
                                             const CandidateTerms&, const Detections&, const Detections&) {
  no_device();
}
CandidateGraph copy_to_host(const DeviceCandidateGraph&) { no_device(); }

}  // namespace motes::tracking
