/// The surroundings of spots to be fitted: other spots, found by cells, and the slope of the background.

#include <algorithm>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "tracking/detect/fit/device_fit.cuh"
#include "tracking/detect/fit/device_team.cuh"
#include "tracking/detect/fit/fit_tilt_rules.h"

namespace motes::tracking::detect::device {
namespace {

using rules::FitState;

constexpr std::int64_t kMostCells = std::int64_t{1} << 22;

/// Boxes at least as wide as the reach.
struct Cells {
  int count[3];
  double per[3];  ///< cells per block
  double reach[3];

  __device__ int along(double place, int a) const {
    return limited(static_cast<int>((place + 1) * per[a]), 0, count[a] - 1);
  }
  __device__ unsigned of(const double (&place)[3]) const {
    return static_cast<unsigned>((along(place[2], 2) * count[1] + along(place[1], 1)) * count[0] +
                                 along(place[0], 0));
  }
};

struct Placed {
  double at[3];
};

__global__ void cells_kernel(const FitState* states, std::size_t n, Cells cells, Placed* places,
                             unsigned* cell, std::uint32_t* spot) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const FitState& s = states[i];
  const Placed p{{s.p[rules::kX], s.p[rules::kY], s.p[rules::kZ]}};
  places[i] = p;
  cell[i] = cells.of(p.at);
  spot[i] = static_cast<std::uint32_t>(i);
}

/// Where each cell's spots begin and end; empty ones keep 0, 0.
__global__ void borders_kernel(const unsigned* cell, std::size_t n, unsigned* begin, unsigned* end) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= n) return;
  const auto at = static_cast<unsigned>(i);
  if (i == 0 || cell[i - 1] != cell[i]) begin[cell[i]] = at;
  if (i + 1 == n || cell[i + 1] != cell[i]) end[cell[i]] = at + 1;
}

struct CellList {
  Cells cells;
  const Placed* places;
  const std::uint32_t* sorted;  ///< spots by cell
  const unsigned *begin, *end;  ///< of cells
  std::size_t n;

  /// Calls use(other) for all spots within reach of spot i, in no order.
  template <class Use>
  __device__ void each_near(std::size_t i, const Use& use) const {
    const Placed p = places[i];
    const int cx = cells.along(p.at[0], 0), cy = cells.along(p.at[1], 1), cz = cells.along(p.at[2], 2);
    for (int z = max(0, cz - 1); z <= min(cells.count[2] - 1, cz + 1); ++z)
      for (int y = max(0, cy - 1); y <= min(cells.count[1] - 1, cy + 1); ++y)
        for (int x = max(0, cx - 1); x <= min(cells.count[0] - 1, cx + 1); ++x) {
          const int cell = (z * cells.count[1] + y) * cells.count[0] + x;
          for (unsigned k = begin[cell]; k < end[cell]; ++k) {
            const std::uint32_t other = sorted[k];
            const Placed q = places[other];
            if (other != i && std::abs(q.at[0] - p.at[0]) <= cells.reach[0] &&
                std::abs(q.at[1] - p.at[1]) <= cells.reach[1] &&
                std::abs(q.at[2] - p.at[2]) <= cells.reach[2])
              use(other);
          }
        }
  }
};

/// Sets counts[n] to 0, so that the last of their exclusive sums is the total.
__global__ void count_near_kernel(CellList search, std::size_t* counts) {
  const std::size_t i = thread_index<std::size_t>();
  if (i > search.n) return;
  std::size_t count = 0;
  if (i < search.n) search.each_near(i, [&](std::uint32_t) { ++count; });
  counts[i] = count;
}

__global__ void list_near_kernel(CellList search, const std::size_t* offsets, std::uint32_t* near) {
  const std::size_t i = thread_index<std::size_t>();
  if (i >= search.n) return;
  std::uint32_t* const own = near + offsets[i];
  std::size_t count = 0;
  search.each_near(i, [&](std::uint32_t other) {
    std::size_t at = count++;
    for (; at > 0 && own[at - 1] > other; --at) own[at] = own[at - 1];
    own[at] = other;
  });
}

Cells make_cells(const std::array<std::int64_t, 3>& size, const std::array<double, 3>& reach) {
  Cells cells{};
  std::array<std::int64_t, 3> count{};
  for (std::size_t a = 0; a < 3; ++a)
    count[a] = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(size[a]) / reach[a]));
  while (count[0] * count[1] * count[2] > kMostCells) {
    std::int64_t& most = *std::max_element(count.begin(), count.end());
    most = (most + 1) / 2;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    cells.count[a] = static_cast<int>(count[a]);
    // Places are between -1 and size. Cells are at least as wide as the reach.
    cells.per[a] = static_cast<double>(count[a]) / (static_cast<double>(size[a]) + 2);
    cells.reach[a] = reach[a];
  }
  return cells;
}

constexpr int kTiltThreads = 128;
constexpr int kTiltSpots = 1 + static_cast<int>(kTiltNeighbours);

/// The profiles of a spot's box, of up to Width voxels along each axis, and the sums over it.
template <int Width>
struct TiltMemory {
  double g[kTiltSpots][3][Width];
  double y[Width], yy[Width], y_cy[Width], y_cz[Width], yg[Width];
  double unused[Width / 2];  ///< padding: teams of a warp use different banks of shared memory
  __device__ void put(int c, const rules::TiltColumn& sums) {
    y[c] = sums.y;
    yy[c] = sums.yy;
    y_cy[c] = sums.y_cy;
    y_cz[c] = sums.y_cz;
    yg[c] = sums.yg;
  }
  __device__ rules::TiltColumn column(int c) const { return {y[c], yy[c], y_cy[c], y_cz[c], yg[c]}; }
};

template <int Width, class T>
__device__ rules::TiltColumn sum_column(const T* voxels, const rules::FitSource& source,
                                        const rules::TiltAxis (&axis)[3], int column, int others,
                                        const SpotModel (&models)[kTiltSpots],
                                        const TiltMemory<Width>& memory) {
  const std::int64_t plane = source.size[1] * source.size[0];
  const T* const first = voxels + axis[2].first * plane + axis[1].first * source.size[0] + axis[0].first;
  const auto offset = static_cast<double>(*first);
  rules::TiltColumn sums;
  for (int k = 0; k < axis[2].count; ++k)
    for (int j = 0; j < axis[1].count; ++j) {
      double v = static_cast<double>(first[k * plane + j * source.size[0] + column]) - offset;
      for (int m = 1; m <= others; ++m)
        v -= models[m].height * memory.g[m][1][j] * memory.g[m][2][k] * memory.g[m][0][column];
      sums.add(v, axis[1].c(j), axis[2].c(k), memory.g[0][1][j] * memory.g[0][2][k]);
    }
  return sums;
}

struct TiltTask {
  rules::FitSpots spots;
  std::int64_t half[3];
  std::size_t n;
  FitState* states;  ///< those of `spots`
};

/// Width threads for each spot.
template <int Width, class T>
__global__ void __launch_bounds__(kTiltThreads) tilt_kernel(const T* voxels, TiltTask task) {
  __shared__ TiltMemory<Width> memories[kTiltThreads / Width];
  const std::size_t i = thread_index<std::size_t>() / Width;
  TiltMemory<Width>& memory = memories[threadIdx.x / Width];
  const ThreadTeam<Width> team;
  if (i >= task.n) return;
  const rules::FitSpots& spots = task.spots;
  const std::size_t begin = spots.offsets[i], near = spots.offsets[i + 1] - begin;
  if (near > kTiltNeighbours) return;
  SpotModel models[kTiltSpots];
  models[0] = rules::model_of(spots.source, spots.states[i].p);
  for (std::size_t m = 0; m < near; ++m) {
    models[m + 1] = rules::model_of(spots.source, spots.states[spots.neighbours[begin + m]].p);
    if (rules::sigmas_between(models[0], models[m + 1]) < kTiltApart) return;
  }
  rules::TiltAxis axis[3];
  for (std::size_t a = 0; a < 3; ++a)
    axis[a] = rules::tilt_axis(models[0].place[a], spots.source.size[a], task.half[a]);
  for (std::size_t m = 0; m <= near; ++m)
    for (std::size_t a = 0; a < 3; ++a)
      team.each(axis[a].count,
                [&](int k) { memory.g[m][a][k] = rules::tilt_profile(axis[a], models[m], a, k); });
  team.sync();
  if (team.lane < axis[0].count)
    memory.put(team.lane,
               sum_column(voxels, spots.source, axis, team.lane, static_cast<int>(near), models, memory));
  team.sync();
  rules::TiltBox box;
  for (int c = 0; c < axis[0].count; ++c) box.add(memory.column(c), axis[0].c(c), memory.g[0][0][c]);
  std::array<rules::TiltSums, 3> along;
  for (std::size_t a = 0; a < 3; ++a) along[a] = rules::tilt_sums(axis[a], memory.g[0][a]);
  const Tilt tilt = rules::tilt_of(models[0], along, box, kTiltErrors);
  if (team.lane == 0) task.states[i].tilt = tilt;
}

}  // namespace

Near near_spots(gpu::Arena& arena, const FitState* states, std::size_t n,
                const std::array<std::int64_t, 3>& size, const std::array<double, 3>& reach) {
  const Cells cells = make_cells(size, reach);
  const std::size_t cell_count = static_cast<std::size_t>(cells.count[0]) *
                                 static_cast<std::size_t>(cells.count[1]) *
                                 static_cast<std::size_t>(cells.count[2]);
  Placed* places = arena.take<Placed>(n);
  unsigned* cell = arena.take<unsigned>(2 * n);
  std::uint32_t* spot = arena.take<std::uint32_t>(2 * n);
  unsigned* begin = arena.take_filled<unsigned>(2 * cell_count, 0);
  cells_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(states, n, cells, places, cell, spot);
  std::size_t bytes = 0, scan_bytes = 0;
  const auto sort = [&](void* scratch) {
    MOTES_CUDA(cub::DeviceRadixSort::SortPairs(scratch, bytes, cell, cell + n, spot, spot + n, n, 0, 32,
                                               arena.stream()));
  };
  sort(nullptr);
  sort(arena.take<char>(bytes));
  borders_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(cell + n, n, begin, begin + cell_count);
  const CellList search{cells, places, spot + n, begin, begin + cell_count, n};
  std::size_t* offsets = arena.take<std::size_t>(2 * (n + 1));
  count_near_kernel<<<blocks_for(n + 1), kThreads, 0, arena.stream()>>>(search, offsets + n + 1);
  const auto sum_up = [&](void* scratch) {
    MOTES_CUDA(
        cub::DeviceScan::ExclusiveSum(scratch, scan_bytes, offsets + n + 1, offsets, n + 1, arena.stream()));
  };
  sum_up(nullptr);
  sum_up(arena.take<char>(scan_bytes));
  const std::size_t all = fetch<1>(arena, offsets + n)[0];
  std::uint32_t* near = arena.take<std::uint32_t>(std::max<std::size_t>(1, all));
  list_near_kernel<<<blocks_for(n), kThreads, 0, arena.stream()>>>(search, offsets, near);
  MOTES_CUDA_LAUNCHED();
  return {offsets, near};
}

void tell_tilts(gpu::Arena& arena, const Values& values, const rules::FitSpots& spots, std::size_t n,
                FitState* states) {
  TiltTask task{spots, {}, n, states};
  for (int a = 0; a < 3; ++a)
    task.half[a] = spots.source.sigma[a] > 0 ? std::lround(kTiltReach * spots.source.sigma[a]) : 0;
  const auto launch = [&]<int Width>(std::integral_constant<int, Width>) {
    constexpr std::size_t kSpots = kTiltThreads / Width;
    const auto blocks = static_cast<unsigned>((n + kSpots - 1) / kSpots);
    values.visit(
        [&](const auto* v) { tilt_kernel<Width><<<blocks, kTiltThreads, 0, arena.stream()>>>(v, task); });
  };
  if (std::max({task.half[0], task.half[1], task.half[2]}) <= 7)
    launch(std::integral_constant<int, 16>{});
  else
    launch(std::integral_constant<int, 32>{});
  MOTES_CUDA_LAUNCHED();
}

}  // namespace motes::tracking::detect::device
