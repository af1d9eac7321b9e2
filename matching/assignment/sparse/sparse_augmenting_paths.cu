/// The GPU engine of `jv`: repairs the given state, then runs chains (row_reduction.cuh) and searches
/// (multi_source_search.cuh).

#include "matching/assignment/sparse/multi_source_search.cuh"
#include "matching/assignment/sparse/scaled_auction.cuh"
#include "matching/assignment/sparse/sparse_augmenting_paths.cuh"

namespace motes::matching::device {
namespace search {
namespace {

__global__ void make_columns_kernel(DeviceCanonical<SparseEntries> p, State s, Column* column) {
  for (Index j = thread_index(); j < p.cols; j += thread_total())
    column[j] = {{s.v[j], s.col_to_row[j], 0}, {detail::kFar, -1, -1}};
}

/// Prices of free columns go back to their start unless `perfect`; none stays above it.
__global__ void repair_cols_kernel(DeviceCanonical<SparseEntries> p, Column* column) {
  for (Index j = thread_index(); j < p.cols; j += thread_total()) {
    Place& place = column[j].place;
    if (!p.perfect && (place.owner == -1 || place.price > p.start[j])) place.price = p.start[j];
  }
}

/// Drops pairs that are not tight, and stores the position of the others within their rows.
template <int kLanes>
__global__ void repair_rows_kernel(DeviceCanonical<SparseEntries> p, Index* row_to_col, Column* column,
                                   int* dropped, int* kept) {
  const int lane = threadIdx.x % kLanes, groups = thread_total() / kLanes;
  const unsigned mask =
      kLanes == kWarp ? kAll : ((1U << kLanes) - 1) << (threadIdx.x % kWarp / kLanes * kLanes);
  for (Index i = thread_index() / kLanes; i < p.rows; i += groups) {
    const Index mate = row_to_col[i];
    if (mate == -1) continue;
    Cost best = p.exit_of(i), mine = kInfiniteCost;
    Index position = -1;
    const Offset begin = p.entries.offsets[i], end = p.entries.offsets[i + 1];
    for (Offset e = begin + lane; e < end; e += kLanes) {
      const Index j = p.entries.col_index[e];
      const Cost offer = p.entries.cost[e] - column[j].place.price;
      best = min(best, offer);
      if (j == mate && offer < mine) mine = offer, position = static_cast<Index>(e - begin);
    }
    for (int step = kLanes / 2; step > 0; step /= 2) {
      best = min(best, __shfl_xor_sync(mask, best, step));
      const Cost other = __shfl_xor_sync(mask, mine, step);
      const Index other_position = __shfl_xor_sync(mask, position, step);
      if (other < mine || (other == mine && other_position > position))
        mine = other, position = other_position;
    }
    if (lane != 0) continue;
    if (mine == best && mine != kInfiniteCost) {
      column[mate].place.extra = position;
      *kept = 1;
    } else {
      row_to_col[i] = column[mate].place.owner = -1;
      *dropped = 1;  // all write the same
    }
  }
}

/// What the chains left in the places, by rows: first all rows free...
__global__ void free_rows_kernel(DeviceCanonical<SparseEntries> p, State s) {
  for (Index i = thread_index(); i < p.rows; i += thread_total()) {
    s.row_to_col[i] = -1;
    s.u[i] = p.exit_of(i);
  }
}
/// ...then the owners.
__global__ void own_rows_kernel(DeviceCanonical<SparseEntries> p, State s, Column* column,
                                ForestReport* report) {
  long long matched = 0;
  for (Index j = thread_index(); j < p.cols; j += thread_total()) {
    const Place place = column[j].place;
    column[j].place.extra = 0;
    if (place.owner == -1) continue;
    s.row_to_col[place.owner] = j;
    s.u[place.owner] = p.entries.cost[p.entries.offsets[place.owner] + place.extra] - place.price;
    ++matched;
  }
  for (int step = kWarp / 2; step > 0; step /= 2) matched += __shfl_xor_sync(kAll, matched, step);
  if (threadIdx.x % kWarp == 0 && matched > 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(&report->matched),
              static_cast<unsigned long long>(matched));
}

__global__ void finish_kernel(State s, const Column* column, Index cols) {
  for (Index j = thread_index(); j < cols; j += thread_total()) {
    const Place place = column[j].place;
    s.v[j] = place.price;
    s.col_to_row[j] = place.owner;
  }
}

template <int kLanes>
void launch_forest(const gpu::Arena& arena, CoreForest f) {
  auto kernel = core_forest_kernel<kLanes>;
  const Offset wanted = std::max<Offset>(1, (Offset{f.p.rows} * kLanes + kForestBlock - 1) / kForestBlock);
  const int width =
      static_cast<int>(std::min<Offset>(cooperative_blocks(arena, kernel, kForestBlock, 1), wanted));
  void* arguments[] = {&f};
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), width, kForestBlock,
                                         arguments, 0, arena.stream()));
}

/// Allocates everything and runs the stages; `kLanes` lanes share a row.
template <int kLanes>
ForestReport run(gpu::Arena& arena, const DeviceCanonical<SparseEntries>& p, const State& s,
                 const SearchSettings& settings, std::vector<int>& gained) {
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const cudaStream_t stream = arena.stream();
  const auto blocks = [](Offset threads) { return chain_blocks(threads); };
  Column* column = arena.take<Column>(cols);
  make_columns_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, s, column);
  MOTES_CUDA_LAUNCHED();
  int* flags = arena.take<int>(2);  // dropped, kept
  bool cold = true;
  for (bool again = true; again;) {
    MOTES_CUDA(cudaMemsetAsync(flags, 0, 2 * sizeof(int), stream));
    repair_cols_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, column);
    MOTES_CUDA_LAUNCHED();
    repair_rows_kernel<kLanes>
        <<<blocks(Offset{p.rows} * kLanes), kThreads, 0, stream>>>(p, s.row_to_col, column, flags, flags + 1);
    MOTES_CUDA_LAUNCHED();
    const std::vector<int> found = arena.download(flags, 2);
    again = !p.perfect && found[0] != 0;
    cold = found[1] == 0;
  }

  CoreForest f{};
  f.p = p;
  f.u = s.u;
  f.row_to_col = s.row_to_col;
  f.column = column;
  f.left = arena.take<Index>(rows);
  f.left_count = arena.take_filled<int>(1, 0);
  f.report = arena.take_filled<ForestReport>(1, 0);
  Chains chains{p,       s.row_to_col,   column, f.left, f.left_count, &f.report->bids, &f.report->began,
                nullptr, settings.budget};
  // Prices near an optimum's make searches short. Free columns may keep them, as the problem is perfect.
  if (p.perfect && cold) run_auction<kLanes>(arena, chains, settings);
  run_chains<kLanes>(arena, chains);
  free_rows_kernel<<<blocks(p.rows), kThreads, 0, stream>>>(p, s);
  MOTES_CUDA_LAUNCHED();
  own_rows_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, s, column, f.report);
  MOTES_CUDA_LAUNCHED();

  for (int k = 0; k < 2; ++k)
    f.roots[k] = arena.take<Index>(rows), f.frontier[k] = arena.take<Reach>(rows + cols),
    f.touched[k] = arena.take<Index>(cols);
  f.contact = arena.take<Contact>(cols);
  f.nearest = arena.take<Cost>(rows);
  f.rise = arena.take<Cost>(rows);
  f.end = arena.take<unsigned>(rows);
  f.counters = arena.take_filled<ForestCounters>(1, 0);
  f.gained = arena.take_filled<int>(kForestPhases, 0);
  f.share = settings.share;
  f.most_rounds = settings.most_rounds;
  f.most_scanned = settings.most_scanned;
  plant_kernel<kLanes><<<4 * arena.multiprocessors(), kThreads, 0, stream>>>(f);
  MOTES_CUDA_LAUNCHED();
  launch_forest<kLanes>(arena, f);
  finish_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(s, column, p.cols);
  MOTES_CUDA_LAUNCHED();
  const ForestReport report = arena.download(f.report, 1)[0];
  gained =
      arena.download(f.gained, static_cast<std::size_t>(std::min<long long>(report.phases, kForestPhases)));
  return report;
}

/// Lanes that share a row, by pairs of a row.
template <class F>
auto with_lanes(Offset per_row, F&& f) {
  if (per_row <= 2) return f(std::integral_constant<int, 1>{});
  if (per_row <= 12) return f(std::integral_constant<int, 8>{});
  return f(std::integral_constant<int, 32>{});
}

}  // namespace
}  // namespace search

void auction_prices(gpu::Arena& arena, const DeviceCanonical<SparseEntries>& p, Offset edges, Cost* v,
                    const SearchSettings& settings) {
  namespace h = search;
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const h::State s{nullptr, v, arena.take_filled<Index>(rows, 0xff), arena.take_filled<Index>(cols, 0xff)};
  h::Column* column = arena.take<h::Column>(cols);
  h::make_columns_kernel<<<h::chain_blocks(p.cols), h::kThreads, 0, arena.stream()>>>(p, s, column);
  MOTES_CUDA_LAUNCHED();
  auto* counters = arena.take_filled<unsigned long long>(2, 0);  // bids, began
  const h::Chains chains{p, s.row_to_col, column, nullptr, nullptr, counters, counters + 1, nullptr, 0};
  h::with_lanes(edges / std::max(1, p.rows),
                [&](auto lanes) { h::run_auction<lanes>(arena, chains, settings); });
  h::finish_kernel<<<h::chain_blocks(p.cols), h::kThreads, 0, arena.stream()>>>(s, column, p.cols);
  MOTES_CUDA_LAUNCHED();
}

bool sparse_augmenting_paths(gpu::Arena& arena, const DeviceCanonical<SparseEntries>& given,
                             const search::State& s, Stats& stats, const SearchSettings& settings,
                             bool* slow) {
  namespace h = search;
  DeviceCanonical<SparseEntries> p = given;
  if (p.perfect) p.row_exit = nullptr;
  const Offset edges = p.rows == 0 ? 0 : arena.download(p.entries.offsets + p.rows, 1)[0];
  std::vector<int> gained;
  const h::ForestReport report = h::with_lanes(
      edges / std::max(1, p.rows), [&](auto lanes) { return h::run<lanes>(arena, p, s, settings, gained); });
  if (report.stuck != 0) throw std::logic_error("jv on the GPU: a phase of searches matched no row");
  if (slow != nullptr) *slow = report.slow != 0;
  stats.initial_assignments += stats.phases == 0 ? report.matched : 0;
  stats.phases += report.phases;
  stats.rounds += report.rounds;
  stats.augmentations += report.augmentations;
  stats.assignments.insert(stats.assignments.end(), gained.begin(), gained.end());
  constexpr const char* kNames[] = {"row_reduction", "growth", "rises", "dual_update", "augmentation"};
  for (int k = 0; k < h::kForestStages; ++k)
    stats.seconds[kNames[k]] += 1e-9 * static_cast<double>(report.nanoseconds[k]);
  return report.impossible == 0;
}

}  // namespace motes::matching::device
