/// The host memory of a workspace.

#include <motes/base/host_blocks.h>
#include <motes/base/workspace.h>

namespace motes {

HostBlocks& Workspace::host_blocks() {
  if (!host_blocks_) host_blocks_ = std::make_unique<HostBlocks>();
  return *host_blocks_;
}
std::size_t Workspace::host_bytes() const { return host_blocks_ ? host_blocks_->bytes() : 0; }

HostBlocks::Solve::Solve(Workspace* workspace)
    : blocks_(workspace != nullptr ? &workspace->host_blocks() : nullptr), use_(blocks_) {}

}  // namespace motes
