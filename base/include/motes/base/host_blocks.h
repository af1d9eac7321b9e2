#pragma once
/// Host memory kept from one solve to the next.

#include <cstddef>
#include <mutex>
#include <vector>

namespace motes {

class Workspace;

/// Blocks of whole huge pages. What is given back is there for the next one who asks for about as much: new
/// memory costs the system a page's zeros at each first touch, as long as several random visits of it later.
/// Part of a Workspace; RawArray takes from the blocks in use in its thread. A block that as many solves as
/// kMostIdle had no use for is freed. Any thread may take and give.
class HostBlocks {
 public:
  static constexpr std::size_t kPage = std::size_t{1} << 21;  ///< a huge page

  HostBlocks() = default;
  /// All blocks have been given back.
  ~HostBlocks();
  HostBlocks(const HostBlocks&) = delete;
  HostBlocks& operator=(const HostBlocks&) = delete;

  /// At least `bytes` (>= 1), in pages of their own, with any content. Throws std::bad_alloc.
  void* take(std::size_t bytes);
  void give(void* data);
  /// Held now, out or not.
  std::size_t bytes() const;

  /// New memory of that kind that is not kept: free() it.
  static void* allocate(std::size_t bytes);
  /// What the arrays of this thread take from; nullptr: from none.
  static HostBlocks* in_use();

  /// Has this thread take from these blocks (nullptr: leaves it as it is) while it lives.
  class Use {
   public:
    explicit Use(HostBlocks* blocks);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    HostBlocks* const before_;
  };
  /// The same for a solve's own thread, with a workspace's (there may be none): when it ends, blocks that it
  /// did not need have waited once more.
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
    bool out;
    int idle;  ///< solves since it was taken last
  };

  void end_solve();

  mutable std::mutex mutex_;
  std::vector<Block> blocks_;
  bool taken_ = false;  ///< in this solve
};

}  // namespace motes
