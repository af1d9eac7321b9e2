/// The steps before and after a solve on the device: sides, starting prices, row duals, objectives.

#include <algorithm>
#include <bit>
#include <limits>

#include <cub/device/device_radix_sort.cuh>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/assignment/canonical/device_solve.cuh"
#include "matching/points/point_pairs.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffffU;

using gpu::thread_index;
using gpu::thread_total;

int blocks_for(const gpu::Arena& arena, Index count) {
  return std::clamp((count + kThreads - 1) / kThreads, 1, 8 * arena.multiprocessors());
}

/// Facts about one side's unmatched costs.
struct SideFacts {
  int some_infinite, some_finite;
  unsigned long long largest;
};
__global__ void facts_kernel(const Cost* cost, Index count, SideFacts* facts) {
  bool infinite = false, finite = false;
  Cost largest = 0;
  for (Index k = thread_index(); k < count; k += thread_total()) {
    const Cost c = cost[k];
    infinite = infinite || c == kInfiniteCost;
    finite = finite || c != kInfiniteCost;
    if (c != kInfiniteCost) largest = max(largest, c < 0 ? -c : c);
  }
  for (int step = 16; step > 0; step /= 2) largest = max(largest, __shfl_xor_sync(kAll, largest, step));
  if (infinite) facts->some_infinite = 1;  // all write the same
  if (finite) facts->some_finite = 1;
  if (threadIdx.x % 32 == 0 && largest > 0)
    atomicMax(&facts->largest, static_cast<unsigned long long>(largest));
}

__global__ void starting_kernel(const Cost* unmatched, Index cols, Cost must_price, Cost* start) {
  for (Index j = thread_index(); j < cols; j += thread_total()) {
    const Cost q = unmatched == nullptr ? kInfiniteCost : unmatched[j];
    start[j] = q == kInfiniteCost ? must_price : q;
  }
}

struct RunningSum {
  unsigned long long low = 0;
  long long high = 0;
  __device__ void add(Cost c) {
    low += static_cast<unsigned long long>(c) & 0xffffffffU;
    high += c >> 32;
  }
  __device__ void give(WideSum* to) {
    for (int step = 16; step > 0; step /= 2) {
      low += __shfl_xor_sync(kAll, low, step);
      high += __shfl_xor_sync(kAll, high, step);
    }
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(&to->low, low);
    atomicAdd(&to->high, static_cast<unsigned long long>(high));
  }
};

struct Finish {
  Index rows, cols;
  const Index* row_to_col;
  const Cost *v, *matched_cost, *row_exit, *col_cost;
  Index* col_to_row;  ///< filled with -1
  Cost* u;
  Totals* totals;
};

__global__ void finish_rows_kernel(Finish f) {
  RunningSum primal, dual;
  unsigned matched = 0;
  for (Index i = thread_index(); i < f.rows; i += thread_total()) {
    const Index j = f.row_to_col[i];
    const Cost paid = j != -1 ? f.matched_cost[i] : f.row_exit == nullptr ? kInfiniteCost : f.row_exit[i];
    if (paid == kInfiniteCost) f.totals->infeasible = 1;  // all write the same
    const Cost u = j == -1 || paid == kInfiniteCost ? paid : paid - f.v[j];
    f.u[i] = u;
    if (j != -1) f.col_to_row[j] = i, ++matched;
    primal.add(paid), dual.add(u);
  }
  primal.give(&f.totals->primal), dual.give(&f.totals->dual);
  matched = __reduce_add_sync(kAll, matched);
  if (threadIdx.x % 32 == 0 && matched > 0)
    atomicAdd(&f.totals->cardinality, static_cast<unsigned long long>(matched));
}
__global__ void finish_cols_kernel(Finish f) {
  RunningSum primal, dual;
  for (Index j = thread_index(); j < f.cols; j += thread_total()) {
    dual.add(f.v[j]);
    if (f.col_to_row[j] != -1) continue;
    const Cost paid = f.col_cost == nullptr ? kInfiniteCost : f.col_cost[j];
    if (paid == kInfiniteCost) f.totals->infeasible = 1;  // all write the same
    primal.add(paid);
  }
  primal.give(&f.totals->primal), dual.give(&f.totals->dual);
}

__extension__ typedef __int128 Wide;
Wide value_of(const WideSum& sum) {
  return (static_cast<Wide>(static_cast<long long>(sum.high)) << 32) + static_cast<Wide>(sum.low);
}

void tell_totals(const Totals& totals, DeviceSolution&& solution, Matching& out) {
  out.stats = std::move(solution.stats);
  out.cardinality = static_cast<std::int64_t>(totals.cardinality);
  if (solution.infeasible || totals.infeasible != 0) {
    out.status = Status::infeasible;
    out.duals = {};
    out.objective = out.dual_objective = std::numeric_limits<double>::infinity();
    return;
  }
  const Wide primal = value_of(totals.primal), dual = value_of(totals.dual);
  out.status = Status::optimal;
  out.objective = static_cast<double>(primal);
  out.dual_objective = static_cast<double>(dual);
  out.gap = static_cast<double>(primal - dual);
}

__global__ void edge_rows_kernel(SparseEntries e, Index* count, Index* key, Offset* place) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (Index i = thread_index() / 32; i < e.rows; i += thread_total() / 32)
    for (Offset k = e.offsets[i] + lane; k < e.offsets[i + 1]; k += 32) {
      const Index j = e.col_index[k];
      key[k] = j, place[k] = k;
      atomicAdd(count + j, 1);
    }
}
/// The row of an edge by the edge's index: the last row that begins at or before it.
__global__ void gather_edges_kernel(SparseEntries e, const Offset* place, Offset edges, Index* row,
                                    Cost* cost) {
  for (Offset t = thread_index(); t < edges; t += thread_total()) {
    const Offset k = place[t];
    Index low = 0, high = e.rows - 1;
    while (low < high) {
      const Index middle = low + (high - low + 1) / 2;
      if (e.offsets[middle] <= k)
        low = middle;
      else
        high = middle - 1;
    }
    row[t] = low, cost[t] = e.cost[k];
  }
}

}  // namespace

DeviceUnmatched unmatched_on_device(gpu::Arena& arena, const CostsView& problem) {
  const auto bring = [&](std::span<const Cost> costs) -> const Cost* {
    if (costs.empty()) return nullptr;
    return space_of(problem) == Space::device ? costs.data() : arena.upload(costs);
  };
  return {bring(unmatched_row_cost_of(problem)), bring(unmatched_col_cost_of(problem))};
}

detail::UnmatchedFacts facts_of(gpu::Arena& arena, const CostsView& problem,
                                const DeviceUnmatched& unmatched) {
  const Index counts[2] = {rows_of(problem), cols_of(problem)};
  const Cost* costs[2] = {unmatched.row, unmatched.col};
  auto* facts = arena.take_filled<SideFacts>(2, 0);
  for (int side = 0; side < 2; ++side)
    if (costs[side] != nullptr && counts[side] > 0)
      facts_kernel<<<blocks_for(arena, counts[side]), kThreads, 0, arena.stream()>>>(
          costs[side], counts[side], facts + side);
  MOTES_CUDA_LAUNCHED();
  auto found = arena.download(facts, 2);
  for (int side = 0; side < 2; ++side)
    if (costs[side] == nullptr) found[static_cast<std::size_t>(side)].some_infinite = counts[side] > 0;
  return {found[0].some_infinite != 0, found[0].some_finite == 0, found[1].some_infinite != 0,
          found[1].some_finite == 0, static_cast<Cost>(std::max(found[0].largest, found[1].largest))};
}

const Cost* starting_prices(gpu::Arena& arena, const Cost* unmatched, Index cols, Cost must_price) {
  Cost* start = arena.take<Cost>(static_cast<std::size_t>(cols));
  if (cols > 0) {
    starting_kernel<<<blocks_for(arena, cols), kThreads, 0, arena.stream()>>>(unmatched, cols, must_price,
                                                                              start);
    MOTES_CUDA_LAUNCHED();
  }
  return start;
}

DeviceSolution on_device(gpu::Arena& arena, detail::Solution&& solution) {
  DeviceSolution out{arena.upload(std::span<const Index>(solution.row_to_col)),
                     arena.upload(std::span<const Cost>(solution.v)), solution.infeasible,
                     std::move(solution.stats)};
  arena.synchronize();  // the solution must outlive the copies
  return out;
}

DeviceAnswer finish_on_device(gpu::Arena& arena, const CanonicalSides& sides, const DeviceSolution& solution,
                              const Cost* matched_cost, const Cost* row_exit, const Cost* col_cost) {
  const Finish f{sides.rows,
                 sides.cols,
                 solution.row_to_col,
                 solution.v,
                 matched_cost,
                 row_exit,
                 col_cost,
                 arena.take_filled<Index>(static_cast<std::size_t>(sides.cols), 0xff),
                 arena.take<Cost>(static_cast<std::size_t>(sides.rows)),
                 arena.take_filled<Totals>(1, 0)};
  if (sides.rows > 0) finish_rows_kernel<<<blocks_for(arena, sides.rows), kThreads, 0, arena.stream()>>>(f);
  if (sides.cols > 0) finish_cols_kernel<<<blocks_for(arena, sides.cols), kThreads, 0, arena.stream()>>>(f);
  MOTES_CUDA_LAUNCHED();
  return {f.row_to_col, f.col_to_row, f.u, f.v, f.totals};
}

Matching bring_answer(gpu::Arena& arena, const CanonicalSides& sides, DeviceSolution&& solution,
                      const DeviceAnswer& answer, detail::ResultRoom& room) {
  const auto rows = static_cast<std::size_t>(sides.rows), cols = static_cast<std::size_t>(sides.cols);
  // Totals, u, v and the partners, one after another, each aligned.
  char* staging = arena.staging(sizeof(Totals) + (rows + cols) * (sizeof(Cost) + sizeof(Index)));
  char* end = staging;
  const auto fetch = [&]<class T>(const T* from, std::size_t count) {
    T* to = reinterpret_cast<T*>(end);
    if (count > 0)
      MOTES_CUDA(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, arena.stream()));
    end += count * sizeof(T);
    return static_cast<const T*>(to);
  };
  const Totals* totals = fetch(answer.totals, 1);
  const Cost *u = fetch(answer.u, rows), *v = fetch(answer.v, cols);
  const Index *row_to_col = fetch(answer.row_to_col, rows), *col_to_row = fetch(answer.col_to_row, cols);
  arena.synchronize();
  const bool turn = sides.exchanged;
  Matching out = room.fill(turn ? detail::ResultRoom::Arrays{col_to_row, row_to_col, v, u}
                                : detail::ResultRoom::Arrays{row_to_col, col_to_row, u, v});
  tell_totals(*totals, std::move(solution), out);
  return out;
}

Matching bring_totals(gpu::Arena& arena, DeviceSolution&& solution, const DeviceAnswer& answer) {
  Matching out;
  tell_totals(arena.download(answer.totals, 1)[0], std::move(solution), out);
  return out;
}

SparseEntries transposed(gpu::Arena& arena, const SparseEntries& e, Offset edges) {
  const auto nnz = static_cast<std::size_t>(edges);
  Index* count = arena.take_filled<Index>(static_cast<std::size_t>(e.cols), 0);
  Offset* offsets = arena.take<Offset>(static_cast<std::size_t>(e.cols) + 1);
  Index* row = arena.take<Index>(nnz);
  Cost* cost = arena.take<Cost>(nnz);
  const auto mark = arena.mark();
  Index *key = arena.take<Index>(nnz), *key_to = arena.take<Index>(nnz);
  Offset *place = arena.take<Offset>(nnz), *place_to = arena.take<Offset>(nnz);
  if (edges > 0) {
    const int blocks = 8 * arena.multiprocessors();
    edge_rows_kernel<<<blocks, kThreads, 0, arena.stream()>>>(e, count, key, place);
    MOTES_CUDA_LAUNCHED();
    // Stable, so that rows stay ascending within a column.
    const int bits = std::bit_width(static_cast<unsigned>(e.cols));
    std::size_t bytes = 0;
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, key_to, place, place_to, edges, 0, bits,
                                               arena.stream()));
    char* scratch = arena.take<char>(bytes);
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, key, key_to, place, place_to, edges, 0, bits,
                                               arena.stream()));
    gather_edges_kernel<<<blocks, kThreads, 0, arena.stream()>>>(e, place_to, edges, row, cost);
    MOTES_CUDA_LAUNCHED();
  }
  scan_counts(arena, count, e.cols, offsets);
  arena.release(mark);
  return {e.cols, e.rows, offsets, row, cost};
}

}  // namespace motes::matching::device
