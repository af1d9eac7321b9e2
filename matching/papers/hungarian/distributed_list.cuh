#pragma once
/// Lists that every rank fills on its device and all ranks read on theirs, gathered by NCCL. A list begins
/// with its length, so that a gather needs nothing from the hosts: several rounds follow each other on the
/// devices, each with its own list (a slot), before a host checks. A gather transfers the first few
/// thousand bytes of each list. If a list is longer, the kernels of later rounds do nothing (overflows),
/// and the host has it gathered again in full.

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
  std::size_t stride = 0, bytes = 0;  ///< bytes: of each list that are here
  int parts = 0;

  __device__ const ListHead& head(int part) const {
    return *reinterpret_cast<const ListHead*>(data + part * stride);
  }
  __device__ const T& entry(int part, unsigned long long k) const {
    return reinterpret_cast<const T*>(data + part * stride + sizeof(ListHead))[k];
  }
  /// Some list was cut off.
  __device__ bool overflows() const {
    for (int part = 0; part < parts; ++part)
      if (head(part).count * sizeof(T) + sizeof(ListHead) > bytes) return true;
    return false;
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
  ListExchange(gpu::Arena& arena, gpu::DeviceCommunicator& ranks, std::size_t most, int slots)
      : arena_(arena),
        ranks_(ranks),
        slots_(slots),
        bytes_(std::max(kShort, bytes_for(most))),
        seen_(at(slots)) {
    for (char*& set : sets_) set = arena.take<char>(bytes_ * at(slots));
    own_ = sets_[0];
    const std::vector<ListHead> empty(at(slots), ListHead{0, detail::kFar});
    empty_ = arena.upload(std::span<const ListHead>(empty));
    arena.synchronize();
    if (ranks.size() == 1) return;
    short_ = arena.take<char>(kShort * at(ranks.size()) * at(slots));
    long_ = arena.take<char>(bytes_ * at(ranks.size()));
  }
  /// Bytes of pinned memory that finish() needs.
  static std::size_t pinned_bytes(int ranks, int slots) { return kShort * at(ranks) * at(slots); }

  /// All slots' own lists become empty, for kernels that follow. Lists given before stay until the next call.
  void begin() {
    own_ = own_ == sets_[0] ? sets_[1] : sets_[0];
    MOTES_CUDA(cudaMemcpy2DAsync(own_, bytes_, empty_, sizeof(ListHead), sizeof(ListHead), at(slots_),
                                 cudaMemcpyDeviceToDevice, arena_.stream()));
  }
  OwnList<T> own(int slot) { return {reinterpret_cast<ListHead*>(own_ + at(slot) * bytes_)}; }

  /// All ranks' lists of the slot, for kernels that follow.
  Lists<T> gather(int slot) {
    char* own = own_ + at(slot) * bytes_;
    if (ranks_.size() == 1) return {own, bytes_, bytes_, 1};
    char* all = short_ + at(slot) * at(ranks_.size()) * kShort;
    ranks_.all_gather(own, all, kShort, arena_.stream());
    return {all, kShort, kShort, ranks_.size()};
  }

  /// What the host needs of slots [0, count); waits for the stream.
  struct Seen {
    std::int64_t total = 0;     ///< entries of all ranks
    std::size_t longest = 0;    ///< of one rank
    Cost least = detail::kFar;  ///< of the extras
    bool cut = false;           ///< kernels of later slots did nothing; see lengthen()
  };
  const std::vector<Seen>& finish(int count, char* pinned) {
    const int size = ranks_.size();
    const char* from = size == 1 ? own_ : short_;
    pinned_ = pinned;
    MOTES_CUDA(cudaMemcpy2DAsync(pinned, kShort, from, size == 1 ? bytes_ : kShort, kShort,
                                 at(count) * at(size), cudaMemcpyDeviceToHost, arena_.stream()));
    arena_.synchronize();
    for (int slot = 0; slot < count; ++slot) {
      Seen& seen = seen_[at(slot)] = {};
      for (int part = 0; part < size; ++part) {
        const ListHead head = head_of(slot, part);
        seen.total += static_cast<std::int64_t>(head.count);
        seen.least = std::min(seen.least, head.extra);
        seen.longest = std::max<std::size_t>(seen.longest, head.count);
      }
      seen.cut = size > 1 && bytes_for(seen.longest) > kShort;
    }
    return seen_;
  }

  /// All ranks' lists of a slot that was cut off, whole. One at a time.
  Lists<T> lengthen(int slot) {
    const std::size_t bytes = bytes_for(seen_[at(slot)].longest);
    ranks_.all_gather(own_ + at(slot) * bytes_, long_, bytes, arena_.stream());
    return {long_, bytes, bytes, ranks_.size()};
  }

  /// The slot's entries on the host, in rank order; behind lengthen() where it was cut.
  void download(int slot, std::vector<T>& all) {
    const Seen& seen = seen_[at(slot)];
    const bool pinned = bytes_for(seen.longest) <= kShort;
    all.resize(at(seen.total));
    std::size_t place = 0;
    for (int part = 0; part < ranks_.size(); ++part) {
      const std::size_t count = head_of(slot, part).count;
      const char* from = seen.cut ? long_ + at(part) * bytes_for(seen.longest) : own_ + at(slot) * bytes_;
      if (count > 0 && pinned)
        std::memcpy(all.data() + place, block_of(slot, part) + sizeof(ListHead), count * sizeof(T));
      else if (count > 0)
        MOTES_CUDA(cudaMemcpyAsync(all.data() + place, from + sizeof(ListHead), count * sizeof(T),
                                   cudaMemcpyDeviceToHost, arena_.stream()));
      place += count;
    }
    if (!pinned) arena_.synchronize();
  }

 private:
  static constexpr std::size_t kShort = 4096;  ///< bytes of a list that are gathered at once

  static std::size_t bytes_for(std::size_t entries) {
    return (sizeof(ListHead) + entries * sizeof(T) + 15) / 16 * 16;
  }
  const char* block_of(int slot, int part) const {
    return pinned_ + (at(slot) * at(ranks_.size()) + at(part)) * kShort;
  }
  ListHead head_of(int slot, int part) const {
    ListHead head;
    std::memcpy(&head, block_of(slot, part), sizeof head);
    return head;
  }

  gpu::Arena& arena_;
  gpu::DeviceCommunicator& ranks_;
  int slots_;
  std::size_t bytes_;
  std::vector<Seen> seen_;
  char* sets_[2] = {};     ///< own lists, in turn: with one rank the last ones may still be read
  char* own_ = nullptr;    ///< [slots] of bytes_ each
  char* short_ = nullptr;  ///< [slots][ranks] of kShort each
  char* long_ = nullptr;   ///< [ranks] of as many bytes as the longest list has
  const ListHead* empty_ = nullptr;
  const char* pinned_ = nullptr;
};

}  // namespace motes::matching::device::hungarian
