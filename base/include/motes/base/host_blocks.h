#pragma once
/// Large blocks of host memory that are kept from one solve to the next.

#include <cstddef>
#include <mutex>
#include <vector>

namespace motes {

class Workspace;

/// A cache of memory blocks, each a whole number of huge pages. A returned block is reused for the next
/// request of about its size, because the first touch of new memory is slow: the system must fill each page
/// with zeros. Part of a Workspace; RawArray takes from the cache in use by its thread. A block that
/// kMostIdle solves did not need is freed. Thread-safe.
class HostBlocks {
 public:
  static constexpr std::size_t kPage = std::size_t{1} << 21;  ///< a huge page

  HostBlocks() = default;
  /// Frees all blocks, which must have been returned.
  ~HostBlocks();
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  /// At least `bytes` (>= 1) of uninitialised memory in whole pages. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  /// Returns a block of take() to the cache.
  void give(void* data);
  /// Bytes of all blocks, whether taken or not.
  std::size_t bytes() const;

  /// The same kind of memory without a cache; release it with std::free.
  static void* allocate(std::size_t bytes);
  /// The cache that arrays of this thread take from, or nullptr.
  static HostBlocks* in_use();

  /// During its lifetime, arrays of this thread take from `blocks` (nullptr: no change).
  class Use {
   public:
    explicit Use(HostBlocks* blocks);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    HostBlocks* const before_;
  };
  /// The same for the calling thread of a solve, with the blocks of a workspace (may be null). The destructor
  /// counts a solve for blocks that were not needed.
  class Solve {
   public:
    explicit Solve(Workspace* workspace);
    ~Solve() {
      if (blocks_ != nullptr) blocks_->end_solve();
    }
    Solve(const Solve&) = delete;
    Solve& operator=(const Solve&) = delete;

   private:
    HostBlocks* const blocks_;
    const Use use_;
  };

 private:
  static constexpr int kMostIdle = 8;
  struct Block {
    void* data;
    std::size_t size;
    bool out;  ///< taken and not yet returned
    int idle;  ///< solves since it was last taken
  };

  void end_solve();

  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
  bool taken_ = false;  ///< whether a block was taken in this solve
};

}  // namespace motes
