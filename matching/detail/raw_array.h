#pragma once
/// Large working arrays that need no first value.

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace motes::matching::detail {

/// `count` words, not initialised: who fills them touches their pages first. Large ones ask for huge pages,
/// as random visits of small ones are a walk through the page tables each. Throws std::bad_alloc.
template <class T>
class RawArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  RawArray() = default;
  explicit RawArray(std::size_t count) : size_(count) {
    constexpr std::size_t kHugePage = std::size_t{1} << 21;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t grain = bytes < kHugePage ? alignof(std::max_align_t) : kHugePage;
    const std::size_t whole = (bytes + grain) / grain * grain;  // at least one, and no end before `bytes`
    data_.reset(static_cast<T*>(std::aligned_alloc(grain, whole)));
    if (data_ == nullptr) throw std::bad_alloc();
    if (grain == kHugePage) madvise(data_.get(), whole, MADV_HUGEPAGE);  // advice: may be refused
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t k) { return data_.get()[k]; }
  const T& operator[](std::size_t k) const { return data_.get()[k]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace motes::matching::detail
