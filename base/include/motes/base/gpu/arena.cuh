#pragma once
/// An arena of device memory, allocated piece by piece and released all at once, with the stream that uses
/// it.

#include <cstddef>
#include <span>
#include <vector>

#include <cuda_runtime.h>

#include <motes/base/gpu/check.cuh>

namespace motes::gpu {

class Arena {
 public:
  explicit Arena(int device);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }
  int multiprocessors() const { return multiprocessors_; }
  std::size_t bytes() const;

  /// Releases all pieces and makes the device current. The memory is kept, merged into one block. The
  /// stream must be idle.
  void reset();

  /// Allocates one block of that size if the arena is still empty, since a dozen small blocks would take a
  /// millisecond. Does nothing if the device does not have that much.
  void reserve(std::size_t bytes);

  /// Uninitialised memory for `count` values, aligned to 256 bytes and valid until the next reset. Throws
  /// ResourceError with the bytes requested and free.
  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// The same, with every byte set to `value` on the stream.
  template <class T>
  T* take_filled(std::size_t count, int value) {
    T* p = take<T>(count);
    if (count > 0) MOTES_CUDA(cudaMemsetAsync(p, value, count * sizeof(T), stream_));
    return p;
  }
  /// A copy of host values, made on the stream. The host values must stay valid until the stream has copied
  /// them.
  template <class T>
  T* upload(std::span<const T> values) {
    T* p = take<T>(values.size());
    if (!values.empty())
      MOTES_CUDA(cudaMemcpyAsync(p, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream_));
    return p;
  }
  /// Copies `count` values to the host; waits for the stream.
  template <class T>
  std::vector<T> download(const T* from, std::size_t count) {
    std::vector<T> values(count);
    if (count > 0)
      MOTES_CUDA(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    synchronize();
    return values;
  }
  /// release() frees the pieces taken since mark(), for later work of the same stream; work submitted
  /// before may still use them. This lets a loop take scratch memory without growing the arena.
  struct Mark {
    std::size_t blocks, used;
  };
  Mark mark() const { return {blocks_.size(), used_}; }
  void release(const Mark& mark) { used_ = blocks_.size() == mark.blocks ? mark.used : 0; }

  void synchronize() { MOTES_CUDA(cudaStreamSynchronize(stream_)); }

  /// A page of pinned host memory (4096 bytes) for flags from the device. Allocated by the first call, since
  /// that takes longer than many solves.
  void* pinned();

  /// At least that many bytes of pinned host memory for transfers. Kept between calls; a request for more
  /// bytes invalidates earlier ones.
  char* staging(std::size_t bytes);

 private:
  struct Block {
    char* data;
    std::size_t size;
  };
  void* take_bytes(std::size_t bytes);

  int device_ = 0, multiprocessors_ = 0;
  cudaStream_t stream_ = nullptr;
  void* pinned_ = nullptr;
  char* staging_ = nullptr;
  std::size_t staging_bytes_ = 0;
  std::vector<Block> blocks_;
  std::size_t used_ = 0;  ///< bytes used of the last block
};

}  // namespace motes::gpu
