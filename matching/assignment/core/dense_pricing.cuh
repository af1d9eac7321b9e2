#pragma once
/// The kernels that find violating pairs outside the core; see dense_kernels.cuh.

#include "matching/assignment/core/dense_rows.cuh"

namespace motes::matching::device::core {

/// *highest = max_j v_j - price_j.
[[maybe_unused]] static __global__ void highest_kernel(const Cost* v, const Cost* price, Index cols,
                                                       Cost* highest) {
  Cost mine = -detail::kFar;
  for (Index j = search::thread_index(); j < cols; j += search::thread_total())
    mine = max(mine, v[j] - price[j]);
  mine = -search::warp_min(-mine);
  if (threadIdx.x % kLanes == 0)
    atomicMax(reinterpret_cast<long long*>(highest), static_cast<long long>(mine));
}
/// Lists the rows that the bounds do not prove.
[[maybe_unused]] static __global__ void unproven_rows_kernel(const Cost* bound, const Cost* u, Index rows,
                                                             const Cost* highest, RowList out) {
  for (Index i = search::thread_index(); i < rows; i += search::thread_total())
    if (bound[i] + 1 < u[i] + *highest) out.row[atomicAdd(out.count, 1)] = i;
}

/// The worst violation in each thread's columns, then the worst kAddedPerRow of those; `Rows` rows per block.
template <int Rows, class T>
__global__ void __launch_bounds__(kDenseBlock, 2)
    scan_rows_kernel(DenseEntries<T> e, bool vectors, const Cost* u, const Cost* v, const Index* list,
                     int count, Found out) {
  __shared__ Cost offer[Rows][kDenseBlock];
  __shared__ Index where[Rows][kDenseBlock];
  const int tid = static_cast<int>(threadIdx.x), lane = tid % kLanes;
  const int base = static_cast<int>(blockIdx.x) * Rows, rows = min(Rows, count - base);
  Index row[Rows], col[Rows];
  Cost best[Rows];
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    row[r] = list[base + min(r, rows - 1)];
    best[r] = u[row[r]];
    col[r] = -1;
  }
  for (Offset from = 4 * tid; from < e.cols; from += 4 * kDenseBlock) {
    const Index first = static_cast<Index>(from);
    Load4<DenseEntries<T>> four[Rows];
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      if (r < rows) four[r] = {e, vectors, row[r], first};
    const FourPrices prices(v, first, e.cols);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (r >= rows) continue;
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const Cost key = key_of(e, four[r], k, prices.price[k]);
        if (key < best[r] && four[r].allowed(k) && first + k < e.cols) best[r] = key, col[r] = first + k;
      }
    }
  }
#pragma unroll
  for (int r = 0; r < Rows; ++r) offer[r][tid] = best[r], where[r][tid] = col[r];
  __syncthreads();
  const int r = tid / kLanes;
  if (r >= rows) return;
  const Index i = list[base + r];
  Cost mine[kRowsAtOnce];
  int any = 0;
#pragma unroll
  for (int k = 0; k < kRowsAtOnce; ++k) {
    const bool found = where[r][k * kLanes + lane] != -1;
    mine[k] = found ? offer[r][k * kLanes + lane] : detail::kFar;
    any += found;
  }
  any = __reduce_add_sync(search::kAll, any);
  if (any == 0) return;
  const int length = min(any, kAddedPerRow);
  const Offset begin = out.take(i, length);
  for (int taken = 0; taken < length; ++taken) {
    Cost least = detail::kFar;
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) least = min(least, mine[k]);
    const Cost worst = search::warp_min(least);
    const unsigned holders = __ballot_sync(search::kAll, least == worst);
    if (lane != __ffs(static_cast<int>(holders)) - 1) continue;
    bool done = false;
#pragma unroll
    for (int k = 0; k < kRowsAtOnce; ++k) {
      if (done || mine[k] != worst) continue;
      done = true;
      mine[k] = detail::kFar;
      const Index j = where[r][k * kLanes + lane];
      out.col[begin + taken] = j;
      out.cost[begin + taken] = e.at(i, j);
    }
  }
}

}  // namespace motes::matching::device::core
