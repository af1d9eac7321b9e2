/// Which pairs are tight, for problems in device memory: few come back to the host.

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "matching/detail/device_problem.h"
#include "matching/device/canonical.cuh"
#include "matching/device/staged_upload.cuh"

namespace motes::matching {
namespace {

using device::Arena;

constexpr int kThreads = 256;

/// What the pass finds. Which pair comes first depends on timing; the host sorts them.
struct Found {
  unsigned long long pairs;
  unsigned loose;  ///< a matched pair is not tight
};

/// `lanes` lanes a row.
template <class Entries>
__global__ void tight_kernel(Entries entries, int lanes, const Index* row_to_col, const Cost* u,
                             const Cost* v, detail::Pair* pairs, unsigned long long room, Found* found) {
  const auto thread = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(thread % lanes);
  const Offset step = static_cast<Offset>(gridDim.x) * blockDim.x / lanes;
  for (Offset row = thread / lanes; row < entries.rows; row += step) {
    const auto i = static_cast<Index>(row);
    const Index mate = row_to_col[i];
    const Cost mine = u[i];
    if (lane == 0 && mate != -1) {
      const Cost c = entries.at(i, mate);
      if (c == kInfiniteCost || c - mine != v[mate]) found->loose = 1;  // all who write, write the same
    }
    entries.for_each(i, lane, lanes, [&](Index j, Cost c) {
      if (j == mate || c - mine != v[j]) return;
      const unsigned long long place = atomicAdd(&found->pairs, 1ULL);
      if (place < room) pairs[place] = {i, j};
    });
  }
}

__global__ void tight_unmatched_kernel(const Cost* unmatched, const Cost* dual, Index count, char* tight) {
  const auto k = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (k < count) tight[k] = unmatched[k] != kInfiniteCost && unmatched[k] == dual[k];
}

/// Which vertices of a side could stay free. `unmatched` in device memory, or empty.
std::vector<char> tight_unmatched(Arena& arena, std::span<const Cost> unmatched, const Cost* dual,
                                  Index count) {
  if (unmatched.empty()) return std::vector<char>(static_cast<std::size_t>(count), 0);
  char* tight = arena.take<char>(static_cast<std::size_t>(count));
  tight_unmatched_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, arena.stream()>>>(
      unmatched.data(), dual, count, tight);
  MOTES_CUDA_LAUNCHED();
  return arena.download(tight, static_cast<std::size_t>(count));
}

/// By row, then by column: rows have few, so that counting beats comparing.
void sort_pairs(std::vector<detail::Pair>& pairs, std::size_t rows) {
  std::vector<std::size_t> end(rows + 1, 0);
  for (const auto& pair : pairs) ++end[static_cast<std::size_t>(pair.row) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<detail::Pair> sorted(pairs.size());
  for (const auto& pair : pairs) sorted[end[static_cast<std::size_t>(pair.row)]++] = pair;
  for (auto from = sorted.begin(); from != sorted.end();) {
    auto to = from;
    while (to != sorted.end() && to->row == from->row) ++to;
    if (to - from > 1) std::sort(from, to, [](const auto& a, const auto& b) { return a.col < b.col; });
    from = to;
  }
  pairs = std::move(sorted);
}

}  // namespace

namespace detail {

Alternatives alternatives_on_device(const Execution& execution, const CostsView& problem,
                                    const Matching& matching) {
  Workspace own;
  Arena& arena = (execution.workspace != nullptr ? *execution.workspace : own).arena(execution.device);
  arena.reset();
  const auto rows = static_cast<std::size_t>(rows_of(problem)),
             cols = static_cast<std::size_t>(cols_of(problem));
  device::StagedUpload upload(arena, arena, rows * (sizeof(Index) + sizeof(Cost)) + cols * sizeof(Cost),
                              thread_count(execution));
  const Cost* u = upload(std::span<const Cost>(matching.duals.u));
  const Cost* v = upload(std::span<const Cost>(matching.duals.v));
  const Index* mates = upload(std::span<const Index>(matching.row_to_col));
  auto* found = arena.take<Found>(1);
  Alternatives out;
  out.row_may_stay_free = tight_unmatched(arena, unmatched_row_cost_of(problem), u, rows_of(problem));
  out.col_may_stay_free = tight_unmatched(arena, unmatched_col_cost_of(problem), v, cols_of(problem));
  with_entries(problem, [&](const auto& entries) {
    using Entries = std::decay_t<decltype(entries)>;
    constexpr int kLanes = std::is_same_v<Entries, SparseEntries> ? 4 : 32;
    // Rarely more than one a row: where there are, a second pass has the room that the first one counted.
    for (unsigned long long room = 4096 + static_cast<unsigned long long>(entries.rows);;) {
      auto* pairs = arena.take<Pair>(room);
      MOTES_CUDA(cudaMemsetAsync(found, 0, sizeof(Found), arena.stream()));
      tight_kernel<<<16 * arena.multiprocessors(), kThreads, 0, arena.stream()>>>(entries, kLanes, mates, u,
                                                                                  v, pairs, room, found);
      MOTES_CUDA_LAUNCHED();
      const Found counts = arena.download(found, 1)[0];
      out.pairs_consistent = counts.loose == 0;
      if (counts.pairs > room) {
        room = counts.pairs;
        continue;
      }
      out.pairs = arena.download(pairs, counts.pairs);
      break;
    }
  });
  sort_pairs(out.pairs, rows);
  return out;
}

}  // namespace detail
}  // namespace motes::matching
