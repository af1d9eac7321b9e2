/// The GPU interface of a build without CUDA: it reports why there is no device.

#include <motes/base/communicator.h>
#include <motes/base/execution.h>
#include <motes/base/gpu/device.h>
#include <motes/base/gpu/no_device.h>
#include <motes/base/host_blocks.h>

namespace motes {
namespace gpu {

class Arena {};

DeviceReport list_devices() { return {{}, MOTES_NO_CUDA_REASON}; }

void throw_no_device() { throw ResourceError("no GPU: " MOTES_NO_CUDA_REASON "; use the cpu back end"); }

int device_of_rank(Communicator& ranks) {
  ranks.agreed([] { throw_no_device(); });
  return 0;
}

DeviceBytes::DeviceBytes(std::size_t, int) { throw_no_device(); }
DeviceBytes::~DeviceBytes() { static_cast<void>(device_); }  // the only use of the member in this build
DeviceBytes::DeviceBytes(DeviceBytes&&) noexcept = default;
DeviceBytes& DeviceBytes::operator=(DeviceBytes&&) noexcept = default;
void DeviceBytes::upload(const void*, std::size_t, std::size_t) { throw_no_device(); }
void DeviceBytes::download(void*, std::size_t, std::size_t) const { throw_no_device(); }

}  // namespace gpu

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
gpu::Arena& Workspace::arena(int) { gpu::throw_no_device(); }
std::size_t Workspace::device_bytes() const { return 0; }

}  // namespace motes
