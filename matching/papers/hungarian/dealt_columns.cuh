#pragma once
/// The columns that a rank holds on its GPU, for TreeSearch (tree_search.h): each round's frontiers and each
/// band's final labels travel from device to device.

#include <vector>

#include "matching/papers/hungarian/column_scan.cuh"
#include "matching/papers/hungarian/dealt_list.cuh"
#include "matching/papers/hungarian/dealt_matrix.cuh"
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
  const int count = static_cast<int>(frontier.total());
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
  DeviceColumns(DealtMatrix<Entries>& matrix, const CanonicalSides& sides, const detail::StartState& state)
      : matrix_(matrix),
        state_(state),
        arena_(matrix.arena()),
        frontiers_(arena_, matrix.devices(),
                   at((sides.cols + matrix.devices().size() - 1) / matrix.devices().size())),
        finals_(arena_, matrix.devices(),
                at((sides.cols + matrix.devices().size() - 1) / matrix.devices().size())),
        pinned_(arena_.staging(2 * kListBytes(matrix.devices().size()))) {
    const std::size_t count = at(matrix.entries().cols), rows = at(sides.rows);
    roots_ = arena_.take<char>(sizeof(ListHead) + rows * sizeof(Active));
    u_ = arena_.take<Cost>(rows);
    auto* mate_u = arena_.take<Cost>(count);
    mate_u_ = mate_u;
    labels_ = {matrix.entries().cols,     matrix.first(), arena_.take<Cost>(count), arena_.take<Index>(count),
               matrix.state().col_to_row, mate_u};
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
    list_.assign(1, {0, static_cast<Offset>(0)});
    const ListHead head{roots.size(), detail::kFar};
    std::memcpy(list_.data(), &head, sizeof head);
    for (const Index i : roots) list_.push_back({-state_.u[at(i)], i});
    MOTES_CUDA(cudaMemcpyAsync(roots_, list_.data(), list_.size() * sizeof(Active), cudaMemcpyHostToDevice,
                               arena_.stream()));
    frontier_ = {roots_, 0, 1};
    if (labels_.count == 0) return;
    partners_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(matrix_.state().col_to_row, u_, mate_u_,
                                                               labels_.count);
    MOTES_CUDA_LAUNCHED();
    fill_costs_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_.key, labels_.count, detail::kFar);
    MOTES_CUDA_LAUNCHED();
  }

  std::int64_t scan(Cost reach) {
    const OwnList<Active> next = frontiers_.begin();
    if (labels_.count > 0) {
      scan_kernel<<<blocks_, kBlock, 0, arena_.stream()>>>(
          ColumnLabels<Entries>{matrix_.entries(), vectors_, labels_.first, matrix_.state().v, labels_.key},
          labels_, owned_, frontier_, reach, next);
      MOTES_CUDA_LAUNCHED();
    }
    frontier_ = frontiers_.exchange(pinned_);
    return frontiers_.total;
  }

  Cost close(Cost closed, Cost reach, std::vector<FinalLabel>& finals) {
    const OwnList<FinalLabel> mine = finals_.begin();
    if (labels_.count > 0) {
      close_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_, closed, reach, mine);
      MOTES_CUDA_LAUNCHED();
    }
    finals_.exchange(pinned_);
    finals_.download(finals);
    return finals_.least;
  }

  std::int64_t open(Cost closed, Cost reach) {
    const OwnList<Active> next = frontiers_.begin();
    if (labels_.count > 0) {
      open_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(labels_, closed, reach, next);
      MOTES_CUDA_LAUNCHED();
    }
    frontier_ = frontiers_.exchange(pinned_);
    return frontiers_.total;
  }

 private:
  static std::size_t kListBytes(int ranks) { return ListExchange<Active>::pinned_bytes(ranks); }

  DealtMatrix<Entries>& matrix_;
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
  Lists<Active> frontier_;
  std::vector<Active> list_;
};

}  // namespace motes::matching::device::hungarian
