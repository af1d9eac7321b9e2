#pragma once
/// Device memory handed out piece by piece and taken back all at once, with the stream that uses it.

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

  /// Forgets all pieces and makes the device current; memory stays, in one block from now on. The stream
  /// must be idle.
  void reset();

  /// One block of so many bytes where there is none yet: a dozen small ones take a millisecond to get and to
  /// give back. Where the device has not as much in one piece, none.
  void reserve(std::size_t bytes);

  /// Uninitialised room for `count` values, aligned to 256 bytes, valid until the next reset. Throws
  /// ResourceError naming the bytes wanted and free.
  template <class T>
  T* take(std::size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }
  /// The same, filled with the byte `value` on the stream.
  template <class T>
  T* take_filled(std::size_t count, int value) {
    T* p = take<T>(count);
    if (count > 0) MOTES_CUDA(cudaMemsetAsync(p, value, count * sizeof(T), stream_));
    return p;
  }
  /// A copy of host values, made on the stream. The host values must stay until the stream has passed.
  template <class T>
  T* upload(std::span<const T> values) {
    T* p = take<T>(values.size());
    if (!values.empty())
      MOTES_CUDA(cudaMemcpyAsync(p, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream_));
    return p;
  }
  /// `count` values back on the host; waits for the stream.
  template <class T>
  std::vector<T> download(const T* from, std::size_t count) {
    std::vector<T> values(count);
    if (count > 0)
      MOTES_CUDA(cudaMemcpyAsync(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    synchronize();
    return values;
  }
  /// Pieces taken after mark() are forgotten by release(), in the order of the stream: what it was given
  /// before may still use them. Lets a loop take scratch memory without growing.
  struct Mark {
    std::size_t blocks, used;
  };
  Mark mark() const { return {blocks_.size(), used_}; }
  void release(const Mark& mark) { used_ = blocks_.size() == mark.blocks ? mark.used : 0; }

  void synchronize() { MOTES_CUDA(cudaStreamSynchronize(stream_)); }

  /// A page of pinned host memory (4096 bytes) for flags that come back from the device; made when it is
  /// first asked for, which takes longer than many a solve.
  void* pinned();

  /// At least that many bytes of pinned host memory for results on their way back, kept from call to call and
  /// valid until more are asked for.
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
  std::size_t used_ = 0;  ///< of the last block
};

}  // namespace motes::gpu
