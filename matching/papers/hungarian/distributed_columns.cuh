#pragma once
/// The columns that a rank holds on its GPU, for TreeSearch (tree_search.h): each round's frontiers and each
/// band's final labels travel from device to device.

#include <vector>

#include "matching/papers/hungarian/column_scan.cuh"
#include "matching/papers/hungarian/distributed_list.cuh"
#include "matching/papers/hungarian/distributed_matrix.cuh"
#include "matching/papers/hungarian/tree_search.h"

namespace motes::matching::device::hungarian {

using detail::FinalLabel;

/// Labels of this rank's columns, by their place in its part.
struct Labels {
  Index count, first;
  Cost* key;  ///< kFar: none
  Index* pred;
  const Index* mate;   ///< partner, -1: free
  const Cost* mate_u;  ///< its dual
};

__device__ inline void push_partner(const Labels& l, const OwnList<Active>& next, Index j, Cost key) {
  if (l.mate[j] != -1) next.push({key - l.mate_u[j], l.mate[j]});
}

template <class Entries>
__global__ void __launch_bounds__(kBlock, 1)
    scan_kernel(ColumnLabels<Entries> c, Labels l, Index owned, Lists<Active> frontier, Cost reach,
                OwnList<Active> next) {
  __shared__ ScanScratch shared;
  const Offset begin = static_cast<Offset>(blockIdx.x) * owned;
  const Offset end = min(begin + owned, static_cast<Offset>(l.count));
  if (frontier.overflows()) return;
  const int count = static_cast<int>(frontier.total());
  if (count == 0) return;
  scan_columns(c, begin, end, count, shared, frontier, [&](Index j, Cost key, unsigned rank) {
    l.key[j] = key;
    l.pred[j] = detail::row_of_rank(rank, detail::scramble(l.first + j));
    if (key <= reach) push_partner(l, next, j, key);
  });
}

/// Lists the labels in (closed, reach], and finds the least beyond.
[[maybe_unused]] static __global__ void close_kernel(Labels l, Cost closed, Cost reach,
                                                     OwnList<FinalLabel> finals) {
  Cost nearest = detail::kFar;
  for (Index j = thread_index(); j < l.count; j += thread_total()) {
    const Cost key = l.key[j];
    if (key > reach)
      nearest = min(nearest, key);
    else if (key > closed)
      finals.push({key, l.first + j, l.pred[j]});
  }
  nearest = warp_min(nearest);
  if (threadIdx.x % kWarp == 0 && nearest < detail::kFar) atomic_min(&finals.head->extra, nearest);
}

[[maybe_unused]] static __global__ void open_kernel(Labels l, Cost closed, Cost reach, OwnList<Active> next) {
  for (Index j = thread_index(); j < l.count; j += thread_total())
    if (l.key[j] > closed && l.key[j] <= reach) push_partner(l, next, j, l.key[j]);
}

[[maybe_unused]] static __global__ void partners_kernel(Index* mate, const Cost* u, Cost* mate_u,
                                                        Index count) {
  for (Index j = thread_index(); j < count; j += thread_total()) mate_u[j] = mate[j] == -1 ? 0 : u[mate[j]];
}

template <class Entries>
class DeviceColumns {
 public:
  DeviceColumns(DistributedMatrix<Entries>& matrix, const CanonicalSides& sides,
                const detail::StartState& state)
      : matrix_(matrix),
        state_(state),
        arena_(matrix.arena()),
        frontiers_(arena_, matrix.devices(), most_here(sides), kSlots),
        finals_(arena_, matrix.devices(), most_here(sides), 1),
        pinned_(arena_.staging(ListExchange<Active>::pinned_bytes(matrix.devices().size(), kSlots))) {
    const std::size_t count = at(matrix.entries().cols), rows = at(sides.rows);
    roots_ = arena_.take<char>(sizeof(ListHead) + rows * sizeof(Active));
    u_ = arena_.take<Cost>(rows);
    mate_u_ = arena_.take<Cost>(count);
    labels_ = {matrix.entries().cols,     matrix.first(), arena_.take<Cost>(count), arena_.take<Index>(count),
               matrix.state().col_to_row, mate_u_};
    const int wanted = std::max(1, (labels_.count + 7) / 8);
    blocks_ = std::min(arena_.multiprocessors(), wanted);
    owned_ = ((labels_.count + blocks_ - 1) / blocks_ + 7) / 8 * 8;
    vectors_ = loads_four(matrix.entries());
  }

  void begin(const std::vector<Index>& roots) {
    matrix_.send_v(state_.v);
    matrix_.send_partners(state_.col_to_row);
    MOTES_CUDA(cudaMemcpyAsync(u_, state_.u.data(), state_.u.size() * sizeof(Cost), cudaMemcpyHostToDevice,
                               arena_.stream()));
    static_assert(sizeof(Active) == sizeof(ListHead));
    list_.assign(1, {});
    const ListHead head{roots.size(), detail::kFar};
    std::memcpy(list_.data(), &head, sizeof head);
    for (const Index i : roots) list_.push_back({-state_.u[at(i)], i});
    const std::size_t bytes = list_.size() * sizeof(Active);
    MOTES_CUDA(cudaMemcpyAsync(roots_, list_.data(), bytes, cudaMemcpyHostToDevice, arena_.stream()));
    frontier_ = {roots_, bytes, bytes, 1};
    known_.clear();
    if (labels_.count == 0) return;
    partners_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(matrix_.state().col_to_row, u_, mate_u_,
                                                               labels_.count);
    MOTES_CUDA_LAUNCHED();
    fill_costs_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_.key, labels_.count, detail::kFar);
    MOTES_CUDA_LAUNCHED();
  }

  std::int64_t scan(Cost reach) {
    if (known_.empty()) {
      frontiers_.begin();
      run_rounds(0, reach);
    }
    return next_known();
  }

  std::int64_t open(Cost closed, Cost reach) {
    frontiers_.begin();
    if (labels_.count > 0) {
      open_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_, closed, reach, frontiers_.own(0));
      MOTES_CUDA_LAUNCHED();
    }
    frontier_ = frontiers_.gather(0);
    run_rounds(1, reach);
    return next_known();
  }

  Cost close(Cost closed, Cost reach, std::vector<FinalLabel>& finals) {
    known_.clear();  // rounds after the last found nothing
    finals_.begin();
    if (labels_.count > 0) {
      close_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_, closed, reach, finals_.own(0));
      MOTES_CUDA_LAUNCHED();
    }
    finals_.gather(0);
    const auto seen = finals_.finish(1, pinned_)[0];
    if (seen.cut) finals_.lengthen(0);
    finals_.download(0, finals);
    return seen.least;
  }

 private:
  static constexpr int kSlots = 5;  ///< rounds that run before the host looks

  std::size_t most_here(const CanonicalSides& sides) const {
    const int ranks = matrix_.devices().size();
    return at(sides.cols / ranks + 1);
  }

  /// Rounds from the frontier on, into slots [first, kSlots); then the host learns of all slots.
  void run_rounds(int first, Cost reach) {
    for (int slot = first; slot < kSlots; ++slot) {
      if (labels_.count > 0) {
        scan_kernel<<<blocks_, kBlock, 0, arena_.stream()>>>(
            ColumnLabels<Entries>{matrix_.entries(), vectors_, labels_.first, matrix_.state().v, labels_.key},
            labels_, owned_, frontier_, reach, frontiers_.own(slot));
        MOTES_CUDA_LAUNCHED();
      }
      frontier_ = frontiers_.gather(slot);
    }
    const auto& seen = frontiers_.finish(kSlots, pinned_);
    known_.clear();
    for (int slot = 0; slot < kSlots; ++slot) {
      known_.push_back(seen[at(slot)].total);
      if (seen[at(slot)].cut) frontier_ = frontiers_.lengthen(slot);
      if (seen[at(slot)].cut || seen[at(slot)].total == 0) break;
    }
    std::reverse(known_.begin(), known_.end());
  }
  std::int64_t next_known() {
    const std::int64_t total = known_.back();
    known_.pop_back();
    return total;
  }

  DistributedMatrix<Entries>& matrix_;
  const detail::StartState& state_;
  gpu::Arena& arena_;
  ListExchange<Active> frontiers_;
  ListExchange<FinalLabel> finals_;
  char* pinned_;
  char* roots_ = nullptr;
  Cost *u_ = nullptr, *mate_u_ = nullptr;
  Labels labels_{};
  int blocks_ = 1;
  Index owned_ = 0;
  bool vectors_ = false;
  Lists<Active> frontier_;           ///< of the round that comes next on the device
  std::vector<std::int64_t> known_;  ///< rows of the rounds that have run, the next one last
  std::vector<Active> list_;
};

}  // namespace motes::matching::device::hungarian
