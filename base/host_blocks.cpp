/// The cache of blocks.

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <motes/base/host_blocks.h>
#include <motes/base/system/memory.h>

namespace motes {
namespace {

thread_local HostBlocks* blocks_in_use = nullptr;

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + HostBlocks::kPage - 1) / HostBlocks::kPage * HostBlocks::kPage;
}

}  // namespace

HostBlocks::~HostBlocks() {
  for (const Block& block : blocks_) std::free(block.data);
}

void* HostBlocks::allocate(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  void* const data = std::aligned_alloc(kPage, size);
  if (data == nullptr) throw std::bad_alloc();
  system::ask_large_pages(data, size);
  return data;
}

void* HostBlocks::take(std::size_t bytes) {
  const std::size_t size = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  taken_ = true;
  // The block must not be much larger than requested, or a later request would lack it.
  Block* best = nullptr;
  for (Block& block : blocks_)
    if (!block.out && block.size >= size && block.size <= 2 * size &&
        (best == nullptr || block.size < best->size))
      best = &block;
  if (best == nullptr) {
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back({allocate(size), size, true, 0});
    return blocks_.back().data;
  }
  best->out = true;
  best->idle = 0;
  return best->data;
}

void HostBlocks::give(void* data) {
  const std::lock_guard lock(mutex_);
  std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.data == data; })->out =
      false;
}

std::size_t HostBlocks::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const Block& block : blocks_) sum += block.size;
  return sum;
}

void HostBlocks::end_solve() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(taken_, false)) return;  // a small problem
  std::erase_if(blocks_, [](Block& block) {
    if (block.out || block.idle++ < kMostIdle) return false;
    std::free(block.data);
    return true;
  });
}

HostBlocks* HostBlocks::in_use() { return blocks_in_use; }

HostBlocks::Use::Use(HostBlocks* blocks) : before_(blocks_in_use) {
  if (blocks != nullptr) blocks_in_use = blocks;
}
HostBlocks::Use::~Use() { blocks_in_use = before_; }

}  // namespace motes
