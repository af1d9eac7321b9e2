#pragma once
/// Measures the time that a stream's work takes on the device.

#include <cuda_runtime.h>

#include <motes/base/gpu/check.cuh>

namespace motes::gpu {

class StreamTimer {
 public:
  /// Starts the measurement.
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
  /// Ends the measurement.
  void stop() { MOTES_CUDA(cudaEventRecord(end_, stream_)); }
  /// The time from construction to stop(). The stream must have been synchronised after stop().
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
