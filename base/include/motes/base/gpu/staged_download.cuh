#pragma once
/// Downloads device arrays through pinned memory, in pieces: while one piece is copied to its destination,
/// the next is being transferred.

#include <algorithm>
#include <vector>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/parallel_copy.h>

namespace motes::gpu {

/// For arrays of `bytes` in total. Uses the arena's staging memory, which other callers must not use until
/// all arrays are taken.
class StagedDownload {
 public:
  StagedDownload(Arena& arena, std::size_t bytes)
      : arena_(arena), piece_(std::max(std::size_t{1} << 21, bytes / 16)), staged_(arena.staging(bytes)) {}
  ~StagedDownload() {
    for (const Piece& piece : pieces_) cudaEventDestroy(piece.there);
  }
  StagedDownload(const StagedDownload&) = delete;
  StagedDownload& operator=(const StagedDownload&) = delete;

  /// Begins to transfer an array, on the arena's stream.
  void add(const void* from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += piece_) {
      const std::size_t some = std::min(piece_, bytes - at);
      MOTES_CUDA(cudaMemcpyAsync(staged_ + end_, static_cast<const char*>(from) + at, some,
                                 cudaMemcpyDeviceToHost, arena_.stream()));
      end_ += some;
      Piece& piece = pieces_.emplace_back(Piece{nullptr, some});
      MOTES_CUDA(cudaEventCreateWithFlags(&piece.there, cudaEventDisableTiming));
      MOTES_CUDA(cudaEventRecord(piece.there, arena_.stream()));
    }
  }
  /// Copies the next array, in the order of add(), to the host; waits for its transfer.
  void take(void* to, std::size_t bytes, int threads) {
    for (std::size_t at = 0; at < bytes; at += pieces_[next_++].bytes) {
      const Piece& piece = pieces_[next_];
      MOTES_CUDA(cudaEventSynchronize(piece.there));
      parallel_copy(static_cast<char*>(to) + at, staged_ + begin_, piece.bytes, threads);
      begin_ += piece.bytes;
    }
  }

 private:
  struct Piece {
    cudaEvent_t there;
    std::size_t bytes;
  };
  Arena& arena_;
  std::size_t piece_;
  char* staged_;
  std::size_t begin_ = 0, end_ = 0, next_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace motes::gpu
