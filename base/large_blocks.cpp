/// Stores large blocks of memory in files.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <motes/base/large_blocks.h>
#include <motes/base/scratch.h>
#include <motes/base/system/memory.h>

namespace motes {
namespace {

enum class Mode { memory, files, child };
std::atomic<Mode> mode = Mode::memory;

/// Bytes of large blocks in memory. Blocks from before the bound was set are subtracted when they are freed,
/// but were never added, so this may be negative.
std::atomic<std::int64_t> in_memory = 0;
std::atomic<std::int64_t> most_in_memory = 0;

/// The number of files; the system maps at most about 65,000.
constexpr std::size_t kMostFiles = std::size_t{1} << 15;

/// A block may take at most one part in this many of the remaining memory: most blocks are small, and files
/// for them cost more.
constexpr std::uint64_t kPartOfRest = 4;

struct Files {
  std::mutex starting;  ///< protects folder, bound and scratch
  std::mutex mutex;     ///< protects blocks; no block is freed while it is held, which would deadlock
  std::filesystem::path folder;
  std::int64_t bound = 0;
  std::unique_ptr<Scratch> scratch;  ///< none before the first file
  std::map<void*, Scratch::File> blocks;
};

/// Never destroyed: objects that outlive main() may own blocks.
Files& files() {
  static auto* const all = new Files;
  return *all;
}

/// Returns null if there are too many files.
void* take_file(std::size_t bytes) {
  Files& all = files();
  {
    const std::lock_guard lock(all.starting);
    if (!all.scratch) all.scratch = std::make_unique<Scratch>(all.folder, all.bound);
  }
  {
    const std::lock_guard lock(all.mutex);
    if (all.blocks.size() >= kMostFiles) return nullptr;
  }
  Scratch::File file(*all.scratch, bytes);
  void* const block = file.data();
  const std::lock_guard lock(all.mutex);
  all.blocks.emplace(block, std::move(file));
  return block;
}

/// Files begin on a page, few blocks of malloc do.
bool may_be_file(const void* block) {
  static const std::size_t page = system::page_size();
  return reinterpret_cast<std::uintptr_t>(block) % page == 0;
}

bool give_file(void* block) {
  std::map<void*, Scratch::File>::node_type gone;  // unmapped after the lock is released
  Files& all = files();
  const std::lock_guard lock(all.mutex);
  gone = all.blocks.extract(block);
  return !gone.empty();
}

}  // namespace

void keep_large_blocks_in_files(const std::filesystem::path& folder, std::int64_t memory_bytes) {
  Files& all = files();
  const std::lock_guard lock(all.starting);
  if (!all.scratch) {
    all.folder = folder;
    all.bound = memory_bytes;
    most_in_memory = memory_bytes / 4;
  }
  mode = Mode::files;
}

void keep_more_blocks_in_memory() noexcept {
  if (mode == Mode::files) most_in_memory = files().bound / 2;
}

void keep_blocks_of_child_in_memory() noexcept {
  if (mode == Mode::files) mode = Mode::child;
}

void* take_block(std::size_t bytes) {
  const bool counted = bytes >= kLargeBlock && mode.load(std::memory_order_relaxed) == Mode::files;
  if (counted &&
      bytes > static_cast<std::uint64_t>(std::max<std::int64_t>(0, most_in_memory - in_memory)) / kPartOfRest)
    if (void* const file = take_file(bytes); file != nullptr) return file;
  void* const block = std::malloc(std::max<std::size_t>(bytes, 1));
  if (block == nullptr) throw std::bad_alloc();
  if (counted) in_memory += static_cast<std::int64_t>(system::block_size(block));
  return block;
}

void give_block(void* block) noexcept {
  const Mode now = mode.load(std::memory_order_relaxed);
  if (now != Mode::memory && block != nullptr) {
    // A child's copy of the list may stay locked, so the child does not free blocks that may be files.
    if (may_be_file(block) && (now == Mode::child || give_file(block))) return;
    if (const std::size_t size = system::block_size(block); size >= kLargeBlock)
      in_memory -= static_cast<std::int64_t>(size);
  }
  std::free(block);
}

}  // namespace motes
