/// The cheap matching as deferred acceptance (Gale & Shapley 1962). Each row proposes to its columns in
/// order, and a column accepts the earliest row: a row takes the first of its columns that is free or held
/// by a later row, and the row displaced continues in the same lanes. The outcome does not depend on the
/// order of requests, and since all columns have the same preferences it is what rows in turn would obtain.
///
/// Meanwhile col_to_row holds one more than the row's position in the order, and 0 if the given start has
/// matched the column, which no row displaces. Races: a holder is only replaced by an earlier row, through
/// an atomic minimum of unsigned numbers, of which free (-1) is the greatest; a lane that reads an outdated
/// holder makes a request without effect.

#include <algorithm>

#include <motes/base/gpu/thread_index.cuh>

#include "matching/cardinality/device_solvers.h"
#include "matching/init/cheap_device.cuh"

namespace motes::matching::device {
namespace {

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kDegreeForMoreLanes = 12;

using gpu::thread_index;
using gpu::thread_total;

__global__ void protect_kernel(const Index* row_to_col, Index rows, Index* col_to_row) {
  for (Index i = thread_index(); i < rows; i += thread_total())
    if (row_to_col[i] != -1) col_to_row[row_to_col[i]] = 0;
}

template <int kLanes>
__global__ void __launch_bounds__(kThreads)
    cheap_kernel(DeviceSides g, detail::VisitOrder order, const Index* row_to_col, unsigned* holder,
                 const int* settled) {
  if (settled != nullptr && *settled != 0) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned me = threadIdx.x % kWarp, first_lane = me / kLanes * kLanes;
  const unsigned mask = kLanes == kWarp ? 0xffffffffU : ((1U << kLanes) - 1) << first_lane;
  const Offset groups = Offset{gridDim.x} * kThreads / kLanes;
  for (Offset k = (Offset{blockIdx.x} * kThreads + threadIdx.x) / kLanes; k < g.rows; k += groups) {
    auto place = static_cast<Index>(k);
    if (row_to_col[order(place)] != -1) continue;
    while (place != -1) {
      const unsigned asking = static_cast<unsigned>(place) + 1;
      const Index row = order(place);
      const Offset end = g.row_offsets[row + 1];
      Offset e = g.row_offsets[row];
      place = -1;  // unless a row is displaced
      while (e < end) {
        const Index j = e + lane < end ? g.col_index[e + lane] : -1;
        const bool may = j != -1 && __ldcg(holder + j) > asking;
        const unsigned candidates = __ballot_sync(mask, may);
        if (candidates == 0) {
          e += kLanes;
          continue;
        }
        const int chosen = __ffs(static_cast<int>(candidates)) - 1;
        unsigned held = 0;
        if (chosen == static_cast<int>(me)) held = atomicMin(holder + j, asking);
        held = __shfl_sync(mask, held, chosen);
        if (held < asking) continue;  // an earlier row took it first, so try again
        place = held == 0xffffffffU ? -1 : static_cast<Index>(held - 1);
        break;
      }
    }
  }
}

__global__ void tell_kernel(Index cols, detail::VisitOrder order, Index* row_to_col, Index* col_to_row,
                            const int* settled) {
  if (settled != nullptr && *settled != 0) return;
  for (Index j = thread_index(); j < cols; j += thread_total()) {
    const Index holder = col_to_row[j];
    if (holder <= 0) continue;
    const Index row = order(holder - 1);
    col_to_row[j] = row;
    row_to_col[row] = j;
  }
}
/// Restores the rows of columns that the given start has matched.
__global__ void restore_kernel(const Index* row_to_col, Index rows, Index* col_to_row) {
  for (Index i = thread_index(); i < rows; i += thread_total())
    if (row_to_col[i] != -1) col_to_row[row_to_col[i]] = i;
}

template <int kLanes>
void launch(const gpu::Arena& arena, const DeviceSides& sides, detail::VisitOrder order,
            const Index* row_to_col, Index* col_to_row, const int* settled) {
  const Offset wanted = (Offset{sides.rows} * kLanes + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(std::clamp<Offset>(wanted, 1, 1 << 22));
  cheap_kernel<kLanes><<<blocks, kThreads, 0, arena.stream()>>>(
      sides, order, row_to_col, reinterpret_cast<unsigned*>(col_to_row), settled);
  MOTES_CUDA_LAUNCHED();
}

}  // namespace

void cheap_start(const gpu::Arena& arena, const DeviceSides& sides, Offset edges, bool warm,
                 detail::VisitOrder order, Index* row_to_col, Index* col_to_row, const int* settled) {
  const cudaStream_t stream = arena.stream();
  const auto blocks = static_cast<unsigned>(8 * arena.multiprocessors());
  if (warm) {
    protect_kernel<<<blocks, kThreads, 0, stream>>>(row_to_col, sides.rows, col_to_row);
    MOTES_CUDA_LAUNCHED();
  }
  if (edges <= Offset{kDegreeForMoreLanes} * sides.rows)
    launch<4>(arena, sides, order, row_to_col, col_to_row, settled);
  else
    launch<16>(arena, sides, order, row_to_col, col_to_row, settled);
  tell_kernel<<<blocks, kThreads, 0, stream>>>(sides.cols, order, row_to_col, col_to_row, settled);
  MOTES_CUDA_LAUNCHED();
  if (warm) {
    restore_kernel<<<blocks, kThreads, 0, stream>>>(row_to_col, sides.rows, col_to_row);
    MOTES_CUDA_LAUNCHED();
  }
}

std::vector<Index> cheap_start(const Execution& execution, const CardinalityProblem& problem,
                               std::uint64_t seed) {
  std::vector<Index> row_to_col;
  CardinalityStats stats;
  with_sides(execution, problem, false, stats, [&](gpu::Arena& arena, const DeviceSides& sides) {
    const DeviceMates there(arena, static_cast<std::size_t>(sides.rows),
                            static_cast<std::size_t>(sides.cols));
    cheap_start(arena, sides, problem.graph.edges(), false, detail::VisitOrder(sides.rows, seed),
                there.row_to_col, there.col_to_row);
    row_to_col = arena.download(there.row_to_col, there.rows);
  });
  return row_to_col;
}

}  // namespace motes::matching::device
