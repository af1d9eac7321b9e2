#include "matching/workspace.h"

#include "matching/detail/host_blocks.h"

namespace motes::matching {

detail::HostBlocks& Workspace::host_blocks() {
  if (!host_blocks_) host_blocks_ = std::make_unique<detail::HostBlocks>();
  return *host_blocks_;
}
std::size_t Workspace::host_bytes() const { return host_blocks_ ? host_blocks_->bytes() : 0; }

detail::HostBlocks::Solve::Solve(Workspace* workspace)
    : blocks_(workspace != nullptr ? &workspace->host_blocks() : nullptr), use_(blocks_) {}

}  // namespace motes::matching
