#pragma once
/// An auction by chains (row_reduction.cuh) with falling epsilon, only for perfect problems: its result is
/// prices, and any prices are a valid start for these.

#include "matching/assignment/sparse/row_reduction.cuh"
#include "matching/assignment/sparse/search_settings.h"

namespace motes::matching::device::search {

/// Sampled rows, and over them the sums of the low and of the high halves of second best minus best offer.
struct Gaps {
  unsigned long long rows, low, high;
};
constexpr Index kSample = 8192;

[[maybe_unused]] static __global__ void sample_gaps_kernel(DeviceCanonical<SparseEntries> p,
                                                           const Column* column, Gaps* gaps) {
  const Index step = max(1, p.rows / kSample);
  for (Index k = thread_index() / kWarp; k * static_cast<Offset>(step) < p.rows;
       k += thread_total() / kWarp) {
    Offers offers;
    p.entries.for_each(k * step, threadIdx.x % kWarp, kWarp, [&](Index j, Cost c) {
      Offers next;
      next.best = c - column[j].place.price, next.col = j, next.position = j;
      offers.take(next);
    });
    offers = best_of<kWarp>(offers, kAll);
    if (threadIdx.x % kWarp != 0 || offers.second == kInfiniteCost) continue;
    const auto gap = static_cast<unsigned long long>(offers.second - offers.best);
    atomicAdd(&gaps->rows, 1ULL);
    atomicAdd(&gaps->low, gap & 0xffffffffU);
    atomicAdd(&gaps->high, gap >> 32);
  }
}

/// The epsilons of the stages: from twice the mean gap on, a quarter of the one before each.
[[maybe_unused]] static __global__ void set_epsilons_kernel(const Gaps* gaps, Cost* epsilon, int stages) {
  const double mean = gaps->rows == 0
                          ? 0
                          : (static_cast<double>(gaps->high) * 0x1p32 + static_cast<double>(gaps->low)) /
                                static_cast<double>(gaps->rows);
  for (int k = 0; k < stages; ++k) epsilon[k] = static_cast<Cost>(fmin(2 * mean, 0x1p58)) >> (2 * k);
}

[[maybe_unused]] static __global__ void forget_owners_kernel(Column* column, Index cols,
                                                             const Cost* epsilon) {
  if (*epsilon == 0) return;
  for (Index j = thread_index(); j < cols; j += thread_total()) column[j].place.owner = -1;
}

inline unsigned chain_blocks(Offset threads) {
  return static_cast<unsigned>(std::clamp<Offset>((threads + kThreads - 1) / kThreads, 1, 1 << 22));
}

template <int kLanes>
void run_chains(const gpu::Arena& arena, const Chains& chains) {
  chains_kernel<kLanes>
      <<<chain_blocks(Offset{chains.p.rows} * kLanes), kThreads, 0, arena.stream()>>>(chains);
  MOTES_CUDA_LAUNCHED();
}

/// Runs the stages; only prices are kept from one to the next. A stage's first chains are short. Rows that
/// spent their budget compete for the same columns, a few in a thousand but for long; longer chains, all at
/// once, settle these until few are running. Leaving them to the searches would take far longer.
template <int kLanes>
void run_auction(gpu::Arena& arena, Chains chains, const SearchSettings& settings) {
  if (settings.stages <= 0) return;
  const auto stages = static_cast<std::size_t>(settings.stages);
  const cudaStream_t stream = arena.stream();
  Gaps* gaps = arena.take_filled<Gaps>(1, 0);
  Cost* epsilon = arena.take<Cost>(stages);
  int* counters = arena.take_filled<int>(2 * stages, 0);
  Index* fighting = arena.take<Index>(static_cast<std::size_t>(chains.p.rows));
  sample_gaps_kernel<<<4 * arena.multiprocessors(), kThreads, 0, stream>>>(chains.p, chains.column, gaps);
  MOTES_CUDA_LAUNCHED();
  set_epsilons_kernel<<<1, 1, 0, stream>>>(gaps, epsilon, settings.stages);
  MOTES_CUDA_LAUNCHED();
  for (std::size_t k = 0; k < stages; ++k) {
    chains.epsilon = epsilon + k;
    Chains fights = chains;
    chains.budget = settings.stage_budget;
    chains.left = fighting;
    chains.left_count = counters + 2 * k;
    run_chains<kLanes>(arena, chains);
    fights.budget = settings.fight_budget;
    fights.starts = fighting;
    fights.start_count = chains.left_count;
    fights.left = nullptr;
    fights.finished = counters + 2 * k + 1;
    fights.few = settings.few_fights;
    chains_kernel<kLanes><<<8 * arena.multiprocessors(), kThreads, 0, stream>>>(fights);
    MOTES_CUDA_LAUNCHED();
    forget_owners_kernel<<<chain_blocks(chains.p.cols), kThreads, 0, stream>>>(chains.column, chains.p.cols,
                                                                               chains.epsilon);
    MOTES_CUDA_LAUNCHED();
  }
}

}  // namespace motes::matching::device::search
