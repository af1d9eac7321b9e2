#pragma once
/// Memory that a caller may keep from one call to the next, so that solving many problems in a row does not
/// allocate anew each time.

#include <cstddef>
#include <memory>
#include <stdexcept>

namespace motes::matching {

/// Memory, or a device, that is not there (the command line's exit code 4).
struct ResourceShortage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace device {
class Arena;  // device memory and a stream (device/arena.cuh)
}
namespace detail {
class HostBlocks;  // detail/host_blocks.h
}

/// Owned by one caller at a time. Solvers that run on a device keep their memory and their stream in it,
/// which grow to the largest problem seen; cardinality and greedy solvers on the CPU keep their large working
/// arrays (2 MB and more), until eight solves with such arrays had no use for them. Frees everything when it
/// dies.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  /// The arena on that device, made on first use. Throws ResourceShortage without CUDA.
  device::Arena& arena(int device);
  /// Device bytes held now.
  std::size_t device_bytes() const;
  /// Host memory for solvers on the CPU; made on first use.
  detail::HostBlocks& host_blocks();
  /// Bytes of it held now.
  std::size_t host_bytes() const;

 private:
  std::unique_ptr<device::Arena> arena_;
  std::unique_ptr<detail::HostBlocks> host_blocks_;
};

}  // namespace motes::matching
