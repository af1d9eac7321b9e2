#pragma once
/// Lists that every rank fills on its device and all ranks read on theirs: gathered by NCCL. A list begins
/// with its length, so that a gather needs nothing of the hosts; what all ranks have in a few thousand bytes
/// takes one, longer lists a second of just the bytes needed.

#include <algorithm>
#include <cstring>
#include <vector>

#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/device_communicator.cuh>

#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::device::hungarian {

struct ListHead {
  unsigned long long count;
  Cost extra;  ///< a minimum that travels along; kFar at first
};

/// All ranks' lists on a device; trivially copyable, passed to kernels. Lists follow each other at `stride`
/// bytes.
template <class T>
struct Lists {
  const char* data = nullptr;
  std::size_t stride = 0;
  int parts = 0;

  __device__ const ListHead& head(int part) const {
    return *reinterpret_cast<const ListHead*>(data + part * stride);
  }
  __device__ const T& entry(int part, unsigned long long k) const {
    return reinterpret_cast<const T*>(data + part * stride + sizeof(ListHead))[k];
  }
  __device__ long long total() const {
    long long sum = 0;
    for (int part = 0; part < parts; ++part) sum += static_cast<long long>(head(part).count);
    return sum;
  }
  /// The k-th of all entries.
  __device__ T operator()(long long k) const {
    int part = 0;
    for (; k >= static_cast<long long>(head(part).count); ++part)
      k -= static_cast<long long>(head(part).count);
    return entry(part, static_cast<unsigned long long>(k));
  }
};

/// This rank's list while kernels fill it.
template <class T>
struct OwnList {
  ListHead* head;
  __device__ void push(const T& value) const {
    reinterpret_cast<T*>(head + 1)[atomicAdd(&head->count, 1ULL)] = value;
  }
};

template <class T>
class ListExchange {
 public:
  /// `most`: entries that any rank's list may have.
  ListExchange(gpu::Arena& arena, gpu::DeviceCommunicator& ranks, std::size_t most)
      : arena_(arena),
        ranks_(ranks),
        bytes_(std::max(kShort, (sizeof(ListHead) + most * sizeof(T) + 15) / 16 * 16)) {
    for (char*& own : own_) own = arena.take<char>(bytes_);
    const ListHead empty{0, detail::kFar};
    empty_ = arena.upload(std::span<const ListHead>(&empty, 1));
    arena.synchronize();
    if (ranks.size() == 1) return;
    short_ = arena.take<char>(kShort * at(ranks.size()));
    long_ = arena.take<char>(bytes_ * at(ranks.size()));
  }

  /// An empty list, for kernels that run before exchange(). What the last exchange gave stays readable.
  OwnList<T> begin() {
    which_ ^= 1;
    MOTES_CUDA(
        cudaMemcpyAsync(own_[which_], empty_, sizeof(ListHead), cudaMemcpyDeviceToDevice, arena_.stream()));
    return {reinterpret_cast<ListHead*>(own_[which_])};
  }

  /// All ranks' lists; waits for the stream. `total` and `least` (of the extras) are the same on every rank.
  const Lists<T>& exchange(char* pinned) {
    const char* own = own_[which_];
    const int size = ranks_.size();
    if (size == 1) {
      lists_ = {own, bytes_, 1};
    } else {
      ranks_.all_gather(own, short_, kShort, arena_.stream());
      lists_ = {short_, kShort, size};
    }
    pinned_ = pinned;
    MOTES_CUDA(
        cudaMemcpyAsync(pinned, lists_.data, kShort * at(size), cudaMemcpyDeviceToHost, arena_.stream()));
    arena_.synchronize();
    total = 0;
    least = detail::kFar;
    std::size_t longest = 0;
    counts_.clear();
    for (int part = 0; part < size; ++part) {
      ListHead head;
      std::memcpy(&head, pinned + at(part) * kShort, sizeof head);
      counts_.push_back(head.count);
      total += static_cast<std::int64_t>(head.count);
      least = std::min(least, head.extra);
      longest = std::max<std::size_t>(longest, head.count);
    }
    const std::size_t needed = (sizeof(ListHead) + longest * sizeof(T) + 15) / 16 * 16;
    if (needed > kShort && size > 1) {
      ranks_.all_gather(own, long_, needed, arena_.stream());
      lists_ = {long_, needed, size};
    }
    is_short_ = needed <= kShort;
    return lists_;
  }

  /// The entries of the last exchange, on the host.
  void download(std::vector<T>& all) {
    all.resize(static_cast<std::size_t>(total));
    std::size_t place = 0;
    for (std::size_t part = 0; part < counts_.size(); ++part) {
      const std::size_t bytes = counts_[part] * sizeof(T);
      if (bytes == 0) continue;
      if (is_short_)
        std::memcpy(all.data() + place, pinned_ + part * kShort + sizeof(ListHead), bytes);
      else
        MOTES_CUDA(cudaMemcpyAsync(all.data() + place, lists_.data + part * lists_.stride + sizeof(ListHead),
                                   bytes, cudaMemcpyDeviceToHost, arena_.stream()));
      place += counts_[part];
    }
    if (!is_short_) arena_.synchronize();
  }

  /// Bytes of pinned memory that exchange() needs for so many ranks.
  static std::size_t pinned_bytes(int ranks) { return kShort * at(ranks); }

  std::int64_t total = 0;
  Cost least = 0;

 private:
  static constexpr std::size_t kShort = 4096;  ///< bytes of the first gather

  gpu::Arena& arena_;
  gpu::DeviceCommunicator& ranks_;
  std::size_t bytes_;
  char* own_[2] = {};
  char *short_ = nullptr, *long_ = nullptr;
  const ListHead* empty_ = nullptr;
  int which_ = 0;
  Lists<T> lists_;
  std::vector<unsigned long long> counts_;
  const char* pinned_ = nullptr;
  bool is_short_ = true;
};

}  // namespace motes::matching::device::hungarian
