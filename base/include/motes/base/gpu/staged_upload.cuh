#pragma once
/// Host arrays to the device by way of pinned memory: twice the rate of a plain copy and more where several
/// threads fill it, and the caller need not wait.

#include <motes/base/gpu/arena.cuh>
#include <motes/base/parallel_copy.h>

namespace motes::gpu {

/// For arrays of `bytes` in all, through the lender's staging memory, which no other caller may use until the
/// stream of `arena` has passed.
class StagedUpload {
 public:
  StagedUpload(Arena& arena, Arena& lender, std::size_t bytes, int threads)
      : arena_(arena), free_(lender.staging(bytes)), threads_(threads) {}

  /// A copy made on the arena's stream; the host values are not needed any more.
  template <class T>
  T* operator()(std::span<const T> values) {
    T* p = arena_.take<T>(values.size());
    if (values.empty()) return p;
    parallel_copy(free_, values.data(), values.size_bytes(), threads_);
    MOTES_CUDA(cudaMemcpyAsync(p, free_, values.size_bytes(), cudaMemcpyHostToDevice, arena_.stream()));
    free_ += values.size_bytes();
    return p;
  }

 private:
  Arena& arena_;
  char* free_;
  int threads_;
};

}  // namespace motes::gpu
