#pragma once
/// Large working arrays that need no first value.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include <motes/base/host_blocks.h>

namespace motes {

/// `count` words, not initialised: who fills them touches their pages first. Large ones ask for huge pages,
/// as random visits of small ones are a walk through the page tables each, and come from the blocks that the
/// thread has in use (host_blocks.h), which must outlive them. Throws std::bad_alloc.
template <class T>
class RawArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  RawArray() = default;
  explicit RawArray(std::size_t count) : data_(nullptr, Free{}), size_(count) {
    const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(T);
    if (bytes < HostBlocks::kPage) {
      data_.reset(static_cast<T*>(std::malloc(bytes)));
      if (data_ == nullptr) throw std::bad_alloc();
    } else {
      HostBlocks* const blocks = HostBlocks::in_use();
      data_ = {static_cast<T*>(blocks != nullptr ? blocks->take(bytes) : HostBlocks::allocate(bytes)),
               Free{blocks}};
    }
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t k) { return data_.get()[k]; }
  const T& operator[](std::size_t k) const { return data_.get()[k]; }

 private:
  struct Free {
    HostBlocks* blocks = nullptr;  ///< whose it is
    void operator()(T* p) const { blocks != nullptr ? blocks->give(p) : std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace motes
