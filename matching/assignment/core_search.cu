/// Repair of the state given, chains (row_chains.cuh), searches (core_forest.cuh).

#include "matching/assignment/core_search.cuh"

#include <limits>

#include "matching/assignment/core_forest.cuh"
#include "matching/assignment/row_chains.cuh"

namespace motes::matching::device {
namespace hungarian {
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

/// Drops pairs that are not tight, and notes where in its row each of the others stands.
template <int kLanes>
__global__ void repair_rows_kernel(DeviceCanonical<SparseEntries> p, Index* row_to_col, Column* column,
                                   int* dropped) {
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
void launch_grid(const Arena& arena, CoreForest f, int enough, int too_many) {
  auto kernel = core_forest_kernel<kLanes, GridTeam>;
  const Offset wanted = std::max<Offset>(1, (Offset{f.p.rows} * kLanes + kForestBlock - 1) / kForestBlock);
  const int width =
      static_cast<int>(std::min<Offset>(cooperative_blocks(arena, kernel, kForestBlock, 1), wanted));
  void* arguments[] = {&f, &enough, &too_many};
  MOTES_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), width, kForestBlock,
                                         arguments, 0, arena.stream()));
}

cudaLaunchConfig_t cluster_config(const Arena& arena, int blocks, cudaLaunchAttribute* attribute) {
  attribute->id = cudaLaunchAttributeClusterDimension;
  attribute->val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kForestBlock);
  config.stream = arena.stream();
  config.attrs = attribute;
  config.numAttrs = 1;
  return config;
}

/// How many blocks of the search the device can hold in one cluster; 0: it has none.
template <int kLanes>
int cluster_blocks(const Arena& arena, const CoreSettings& settings) {
  if (!settings.clusters) return 0;
  int major = 0;
  MOTES_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, arena.device()));
  if (major < 9) return 0;
  auto kernel = core_forest_kernel<kLanes, ClusterTeam>;
  MOTES_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (const int blocks : {16, 8}) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = cluster_config(arena, blocks, &attribute);
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0)
      return blocks;
    cudaGetLastError();  // a size that does not fit is no error of ours
  }
  return 0;
}

template <int kLanes>
void launch_cluster(const Arena& arena, const CoreForest& f, int blocks, int too_many) {
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t config = cluster_config(arena, blocks, &attribute);
  MOTES_CUDA(cudaLaunchKernelEx(&config, core_forest_kernel<kLanes, ClusterTeam>, f, 0, too_many));
}

/// Room for everything, and the stages in their order; `kLanes` lanes share a row.
template <int kLanes>
ForestReport run(Arena& arena, const DeviceCanonical<SparseEntries>& p, const State& s,
                 const CoreSettings& settings, std::vector<int>& gained) {
  const auto rows = static_cast<std::size_t>(p.rows), cols = static_cast<std::size_t>(p.cols);
  const cudaStream_t stream = arena.stream();
  const auto blocks = [&](Offset threads) {
    return static_cast<unsigned>(std::clamp<Offset>((threads + kThreads - 1) / kThreads, 1, 1 << 22));
  };
  Column* column = arena.take<Column>(cols);
  make_columns_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, s, column);
  MOTES_CUDA_LAUNCHED();
  int* dropped = arena.take<int>(1);
  for (bool again = true; again;) {
    MOTES_CUDA(cudaMemsetAsync(dropped, 0, sizeof(int), stream));
    repair_cols_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, column);
    MOTES_CUDA_LAUNCHED();
    repair_rows_kernel<kLanes>
        <<<blocks(Offset{p.rows} * kLanes), kThreads, 0, stream>>>(p, s.row_to_col, column, dropped);
    MOTES_CUDA_LAUNCHED();
    again = !p.perfect && arena.download(dropped, 1)[0] != 0;
  }

  CoreForest f{};
  f.p = p;
  f.u = s.u;
  f.row_to_col = s.row_to_col;
  f.column = column;
  f.left = arena.take<Index>(rows);
  f.left_count = arena.take_filled<int>(1, 0);
  f.report = arena.take_filled<ForestReport>(1, 0);
  const Chains chains{
      p, s.row_to_col, column, f.left, f.left_count, &f.report->bids, &f.report->began, settings.budget};
  chains_kernel<kLanes><<<blocks(Offset{p.rows} * kLanes), kThreads, 0, stream>>>(chains);
  MOTES_CUDA_LAUNCHED();
  free_rows_kernel<<<blocks(p.rows), kThreads, 0, stream>>>(p, s);
  MOTES_CUDA_LAUNCHED();
  own_rows_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(p, s, column, f.report);
  MOTES_CUDA_LAUNCHED();

  for (int k = 0; k < 2; ++k) f.roots[k] = arena.take<Index>(rows), f.frontier[k] = arena.take<Visit>(rows);
  f.touched = arena.take<Index>(cols);
  f.nearest = arena.take<Cost>(rows);
  f.rise = arena.take<Cost>(rows);
  f.end = arena.take<unsigned>(rows);
  f.counters = arena.take_filled<ForestCounters>(1, 0);
  f.gained = arena.take_filled<int>(kForestPhases, 0);
  plant_kernel<kLanes><<<4 * arena.multiprocessors(), kThreads, 0, stream>>>(f);
  MOTES_CUDA_LAUNCHED();
  constexpr int kNever = std::numeric_limits<int>::max();
  const int cluster = cluster_blocks<kLanes>(arena, settings);
  if (cluster > 0) {
    if (p.rows > settings.few) launch_grid<kLanes>(arena, f, settings.few, kNever);
    launch_cluster<kLanes>(arena, f, cluster, 4 * settings.few);
  }
  launch_grid<kLanes>(arena, f, 0, kNever);
  finish_kernel<<<blocks(p.cols), kThreads, 0, stream>>>(s, column, p.cols);
  MOTES_CUDA_LAUNCHED();
  const ForestReport report = arena.download(f.report, 1)[0];
  gained =
      arena.download(f.gained, static_cast<std::size_t>(std::min<long long>(report.phases, kForestPhases)));
  return report;
}

}  // namespace
}  // namespace hungarian

bool search_core(Arena& arena, const DeviceCanonical<SparseEntries>& given, const hungarian::State& s,
                 Stats& stats, const CoreSettings& settings) {
  namespace h = hungarian;
  DeviceCanonical<SparseEntries> p = given;
  if (p.perfect) p.row_exit = nullptr;
  const Offset edges = p.rows == 0 ? 0 : arena.download(p.entries.offsets + p.rows, 1)[0];
  const Offset per_row = edges / std::max(1, p.rows);
  std::vector<int> gained;
  const h::ForestReport report = per_row <= 2    ? h::run<1>(arena, p, s, settings, gained)
                                 : per_row <= 12 ? h::run<8>(arena, p, s, settings, gained)
                                                 : h::run<32>(arena, p, s, settings, gained);
  if (report.stuck != 0) throw std::logic_error("jv on the GPU: a phase of searches matched nobody");
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
