#pragma once
/// The rows that a rank holds on its GPU, for CoverSearch (cover_search.h): the columns that rows claim, and
/// the least slack, travel from device to device.

#include <vector>

#include "matching/papers/hungarian/cover_search.h"
#include "matching/papers/hungarian/distributed_list.cuh"
#include "matching/papers/hungarian/distributed_matrix.cuh"
#include "matching/papers/hungarian/row_scan.cuh"

namespace motes::matching::device::hungarian {

using detail::Claim;

/// Trees as far as this rank needs them; rows by their place in its part.
struct Trees {
  Index rows, cols, first;
  char *in_tree, *covered;  ///< [rows], [cols]
  Cost *u, *v, *slack;      ///< [rows], [cols], [rows] of a tree's row
  unsigned* claim;          ///< [cols] kNoRank: none
  const Index* mate;        ///< [cols]
  Index* active;            ///< [rows] rows to read
  int* active_count;
};

__device__ inline void activate(const Trees& t, Index row) {
  t.slack[row] = detail::kFar;
  t.active[atomicAdd(t.active_count, 1)] = row;
}

template <class Entries>
__global__ void __launch_bounds__(512, 1)
    read_kernel(RowScan<Entries> scan, const Index* active, const int* count) {
  read_rows(scan, active, *count);
}

/// Lists the columns claimed. No row waits to be read any more.
[[maybe_unused]] static __global__ void list_claims_kernel(Trees t, OwnList<Claim> claims) {
  if (thread_index() == 0) *t.active_count = 0;
  for (Index j = thread_index(); j < t.cols; j += thread_total()) {
    if (t.claim[j] == detail::kNoRank) continue;
    claims.push({j, t.claim[j]});
    t.claim[j] = detail::kNoRank;
  }
}

/// Columns that any rank claimed are covered; their partners enter the trees, and will be read. Of several
/// threads with the same column one does that: covered[j] is set by an exchange of its word.
[[maybe_unused]] static __global__ void cover_kernel(Trees t, Lists<Claim> claims) {
  if (claims.overflows()) return;
  const long long total = claims.total();
  for (long long k = thread_index(); k < total; k += thread_total()) {
    const Index j = claims(k).col;
    auto* word = reinterpret_cast<unsigned*>(t.covered + j / 4 * 4);
    const unsigned mine = 1U << (j % 4 * 8);
    if ((atomicOr(word, mine) & mine) != 0) continue;
    const Index row = t.mate[j] - t.first;
    if (t.mate[j] == -1 || row < 0 || row >= t.rows) continue;
    t.in_tree[row] = 1;
    activate(t, row);
  }
}

[[maybe_unused]] static __global__ void plant_kernel(Trees t, const Index* roots, int count) {
  for (int k = thread_index(); k < count; k += thread_total()) {
    const Index row = roots[k] - t.first;
    if (row < 0 || row >= t.rows) continue;
    t.in_tree[row] = 1;
    activate(t, row);
  }
}

[[maybe_unused]] static __global__ void least_slack_kernel(Trees t, Cost* least) {
  Cost mine = detail::kFar;
  for (Index i = thread_index(); i < t.rows; i += thread_total())
    if (t.in_tree[i] != 0) mine = min(mine, t.slack[i]);
  mine = warp_min(mine);
  if (threadIdx.x % kWarp == 0 && mine < detail::kFar) atomic_min(least, mine);
}

[[maybe_unused]] static __global__ void subtract_kernel(Trees t, Cost theta) {
  for (Index j = thread_index(); j < t.cols; j += thread_total())
    if (t.covered[j] != 0) t.v[j] -= theta;
  for (Index i = thread_index(); i < t.rows; i += thread_total()) {
    if (t.in_tree[i] == 0) continue;
    t.u[i] += theta;
    if (t.slack[i] == detail::kFar) continue;
    t.slack[i] -= theta;
    if (t.slack[i] == 0) activate(t, i);
  }
}

template <class Entries>
class DeviceRows {
 public:
  DeviceRows(DistributedMatrix<Entries>& matrix, const CanonicalSides& sides, const detail::StartState& state)
      : matrix_(matrix),
        state_(state),
        arena_(matrix.arena()),
        claims_(arena_, matrix.devices(), at(sides.cols), kSlots),
        pinned_(arena_.staging(pinned_lists() + sizeof(Cost))) {
    const std::size_t rows = at(matrix.entries().rows), cols = at(sides.cols);
    const State& s = matrix.state();
    trees_ = {matrix.entries().rows,
              sides.cols,
              matrix.first(),
              arena_.take<char>(rows),
              arena_.take<char>((cols + 3) / 4 * 4),
              s.u,
              s.v,
              arena_.take<Cost>(rows),
              arena_.take_filled<unsigned>(cols, 0xff),
              s.col_to_row,
              arena_.take<Index>(rows),
              arena_.take_filled<int>(1, 0)};
    roots_ = arena_.take<Index>(at(sides.rows));
    least_ = arena_.take<Cost>(1);
    vectors_ = loads_four(matrix.entries());
    const Index wanted = std::max<Index>(1, (std::max(trees_.rows, trees_.cols) + 15) / 16);
    blocks_ = std::min<int>(2 * arena_.multiprocessors(), wanted);
  }

  void begin() {
    matrix_.send_u(state_.u);
    matrix_.send_v(state_.v);
    matrix_.send_partners(state_.col_to_row);
    MOTES_CUDA(cudaMemsetAsync(trees_.in_tree, 0, at(trees_.rows), arena_.stream()));
    MOTES_CUDA(cudaMemsetAsync(trees_.covered, 0, at(trees_.cols), arena_.stream()));
    MOTES_CUDA(cudaMemsetAsync(trees_.active_count, 0, sizeof(int), arena_.stream()));
    at_roots_ = true;
    next_ = known_ = 0;
  }

  void expand(const std::vector<Index>& entered, const std::vector<char>&, std::vector<Claim>& claims) {
    if (at_roots_) {  // later ones the device knows by itself
      MOTES_CUDA(cudaMemcpyAsync(roots_, entered.data(), entered.size() * sizeof(Index),
                                 cudaMemcpyHostToDevice, arena_.stream()));
      plant_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(trees_, roots_,
                                                              static_cast<int>(entered.size()));
      MOTES_CUDA_LAUNCHED();
      at_roots_ = false;
    }
    if (next_ == known_) run_levels();
    claims_.download(next_, claims);
    ++next_;
  }

  Cost least_slack() {
    next_ = known_ = 0;  // levels after the last found nothing
    auto* least = reinterpret_cast<Cost*>(pinned_ + pinned_lists());
    fill_costs_kernel<<<1, 32, 0, arena_.stream()>>>(least_, 1, detail::kFar);
    MOTES_CUDA_LAUNCHED();
    least_slack_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(trees_, least_);
    MOTES_CUDA_LAUNCHED();
    matrix_.devices().all_reduce_min(least_, 1, arena_.stream());
    MOTES_CUDA(cudaMemcpyAsync(least, least_, sizeof(Cost), cudaMemcpyDeviceToHost, arena_.stream()));
    arena_.synchronize();
    return *least;
  }

  void subtract(Cost theta) {
    subtract_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(trees_, theta);
    MOTES_CUDA_LAUNCHED();
  }

 private:
  static constexpr int kSlots = 8;  ///< levels that run before the host looks

  std::size_t pinned_lists() const {
    return ListExchange<Claim>::pinned_bytes(matrix_.devices().size(), kSlots);
  }

  /// Levels of the forward pass; a level's claims cover columns on every device, whose partners are read in
  /// the next.
  void run_levels() {
    claims_.begin();
    for (int slot = 0; slot < kSlots; ++slot) {
      if (trees_.rows > 0) {
        read_kernel<<<blocks_, 512, 0, arena_.stream()>>>(
            RowScan<Entries>{matrix_.entries(), vectors_, trees_.first, trees_.covered, trees_.u, trees_.v,
                             trees_.slack, trees_.claim},
            trees_.active, trees_.active_count);
        MOTES_CUDA_LAUNCHED();
        list_claims_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(trees_, claims_.own(slot));
        MOTES_CUDA_LAUNCHED();
      }
      cover(claims_.gather(slot));
    }
    const auto& seen = claims_.finish(kSlots, pinned_);
    for (next_ = known_ = 0; known_ < kSlots;) {
      const auto& level = seen[at(known_++)];
      if (level.cut) cover(claims_.lengthen(known_ - 1));
      if (level.cut || level.total == 0) break;
    }
  }
  void cover(const Lists<Claim>& claims) {
    cover_kernel<<<blocks_, kThreads, 0, arena_.stream()>>>(trees_, claims);
    MOTES_CUDA_LAUNCHED();
  }

  DistributedMatrix<Entries>& matrix_;
  const detail::StartState& state_;
  gpu::Arena& arena_;
  ListExchange<Claim> claims_;
  char* pinned_;
  Trees trees_{};
  Index* roots_ = nullptr;
  Cost* least_ = nullptr;
  bool vectors_ = false, at_roots_ = false;
  int next_ = 0, known_ = 0;  ///< of the levels that have run: the next to be reported, and their number
  int blocks_ = 1;
};

}  // namespace motes::matching::device::hungarian
