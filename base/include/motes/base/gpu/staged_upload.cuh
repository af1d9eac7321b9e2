#pragma once
/// Uploads host arrays through pinned memory, which is at least twice as fast as a plain copy if several
/// threads fill it, and does not make the caller wait.

#include <motes/base/gpu/arena.cuh>
#include <motes/base/parallel_copy.h>

namespace motes::gpu {

/// For arrays of `bytes` in total. Uses the lender's staging memory, which other callers must not use until
/// the stream of `arena` has made the copies.
class StagedUpload {
 public:
  StagedUpload(Arena& arena, Arena& lender, std::size_t bytes, int threads)
      : arena_(arena), free_(lender.staging(bytes)), threads_(threads) {}

  /// Copies the values on the arena's stream. They need not stay valid.
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
