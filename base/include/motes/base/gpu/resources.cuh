#pragma once
/// Owners of a CUDA stream, an event, device memory or pinned memory, for steps that keep a few arrays of
/// their own. Solvers take their memory from an Arena (arena.cuh).

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/allocation_fault.h>

namespace motes::gpu {

/// cudaMalloc and cudaHostAlloc, with fault injection for tests (allocation_fault.h).
template <class T>
cudaError_t allocate_device(T** data, std::size_t bytes) {
  return allocation_must_fail() ? cudaErrorMemoryAllocation
                                : cudaMalloc(reinterpret_cast<void**>(data), bytes);
}
template <class T>
cudaError_t allocate_pinned(T** data, std::size_t bytes) {
  return allocation_must_fail() ? cudaErrorMemoryAllocation
                                : cudaHostAlloc(reinterpret_cast<void**>(data), bytes, cudaHostAllocDefault);
}

/// Throws ResourceError ("GPU: WHAT: the driver's reason; ...") unless the call succeeded.
inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which would be reported again otherwise
  throw ResourceError(std::string("GPU: ") + what + ": " + cudaGetErrorString(status) +
                      "; free its memory, or set execution.backend to cpu");
}

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  /// With cudaEventDisableTiming (the default) an event only orders work; with cudaEventDefault it also
  /// records the time.
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    require(cudaEventCreateWithFlags(&event_, flags), "creating an event");
  }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Device memory that can grow, which loses its contents, and never shrinks.
template <class T>
class GrowingArray {
 public:
  GrowingArray() = default;
  explicit GrowingArray(std::size_t count) { reserve(count); }
  ~GrowingArray() { cudaFree(data_); }
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  T* data() const { return data_; }

  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    cudaFree(std::exchange(data_, nullptr));
    capacity_ = 0;
    require(allocate_device(&data_, count * sizeof(T)), "allocating memory");
    capacity_ = count;
  }

  /// Copies `values` on the stream; they must stay valid until the stream has copied them.
  void upload(const std::vector<T>& values, cudaStream_t stream) {
    reserve(values.size());
    if (values.empty()) return;
    require(cudaMemcpyAsync(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copying to the device");
  }

 private:
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

/// Pinned host memory, which the device copies to and from at full speed.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t count) {
    require(allocate_pinned(&data_, count * sizeof(T)), "allocating pinned memory");
  }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace motes::gpu
