#pragma once
/// How long the device takes for what a stream is given.

#include <cuda_runtime.h>

#include <motes/base/gpu/check.cuh>

namespace motes::gpu {

/// A stretch of a stream's time, in seconds.
class StreamTimer {
 public:
  explicit StreamTimer(cudaStream_t stream) : stream_(stream) {
    MOTES_CUDA(cudaEventCreate(&begin_));
    MOTES_CUDA(cudaEventCreate(&end_));
    MOTES_CUDA(cudaEventRecord(begin_, stream_));
  }
  ~StreamTimer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  StreamTimer(const StreamTimer&) = delete;
  StreamTimer& operator=(const StreamTimer&) = delete;
  /// Marks the end; seconds() may be asked for once the stream has passed it.
  void stop() { MOTES_CUDA(cudaEventRecord(end_, stream_)); }
  double seconds() const {
    float milliseconds = 0;
    MOTES_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace motes::gpu
