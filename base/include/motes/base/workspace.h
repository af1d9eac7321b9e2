#pragma once
/// Memory that a caller keeps between calls, so that a series of problems does not allocate each time.

#include <cstddef>
#include <memory>

#include <motes/base/errors.h>

namespace motes {

namespace gpu {
class Arena;  // device memory and a stream (base/gpu/arena.cuh)
}
class HostBlocks;  // base/host_blocks.h

/// Used by one call at a time. Solvers on a device keep their stream and their memory here, which grows to
/// the needs of the largest problem. Cardinality and greedy solvers on the CPU keep large working arrays (2
/// MB and more) here; one that eight such solves did not need is freed. The destructor frees everything.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// The arena on that device, created by the first call. Throws ResourceError in a build without CUDA.
  gpu::Arena& arena(int device);
  /// Bytes of device memory held.
  std::size_t device_bytes() const;
  /// The host memory of CPU solvers, created by the first call.
  HostBlocks& host_blocks();
  /// Bytes of host memory held.
  std::size_t host_bytes() const;

 private:
  std::unique_ptr<gpu::Arena> arena_;
  std::unique_ptr<HostBlocks> host_blocks_;
};

}  // namespace motes
