#pragma once
/// Memory that a caller keeps from one call to the next, so that solving many problems in a row does not
/// allocate each time.

#include <cstddef>
#include <memory>

#include <motes/base/errors.h>

namespace motes {

namespace gpu {
class Arena;  // device memory and a stream (base/gpu/arena.cuh)
}
class HostBlocks;  // base/host_blocks.h

/// Owned by one caller at a time. Solvers that run on a device keep their memory and their stream in it,
/// which grow to the largest problem seen; cardinality and greedy solvers on the CPU keep their large working
/// arrays (2 MB and more), until eight solves with such arrays had no use for them. The destructor frees
/// everything.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// The arena on that device, made on first use. Throws ResourceError without CUDA.
  gpu::Arena& arena(int device);
  /// Device bytes held now.
  std::size_t device_bytes() const;
  /// Host memory for solvers on the CPU; made on first use.
  HostBlocks& host_blocks();
  /// Bytes of it held now.
  std::size_t host_bytes() const;

 private:
  std::unique_ptr<gpu::Arena> arena_;
  std::unique_ptr<HostBlocks> host_blocks_;
};

}  // namespace motes
