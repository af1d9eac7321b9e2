#pragma once
/// Large working arrays without initial values.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#include <motes/base/host_blocks.h>

namespace motes {

/// An uninitialised array of `count` values, so that the threads that fill it are the first to touch its
/// pages. Large arrays use huge pages, because random accesses to small ones miss the TLB, and come from
/// the thread's cache of blocks (host_blocks.h), which must outlive them. Throws std::bad_alloc.
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
    HostBlocks* blocks = nullptr;  ///< the cache to return it to; nullptr: std::free
    void operator()(T* p) const { blocks != nullptr ? blocks->give(p) : std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace motes
