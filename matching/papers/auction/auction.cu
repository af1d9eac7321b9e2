/// The host side of the auction on a device: memory, phases, and results. The kernels are in
/// auction_kernels.cuh.

#include <algorithm>
#include <chrono>
#include <type_traits>

#include <cub/device/device_scan.cuh>

#include <motes/base/gpu/thread_index.cuh>
#include <motes/base/timer.h>

#include "matching/assignment/canonical/device_solve.cuh"
#include "matching/papers/auction/auction_kernels.cuh"
#include "matching/papers/auction/device_auction.h"
#include "matching/papers/auction/short_list_auction.h"

namespace motes::matching {
namespace device {
namespace {

using detail::AuctionOptions;
using detail::AuctionResult;
using detail::AuctionScale;

template <class Entries>
unsigned blocks_for(gpu::Arena& arena, const Market<Entries>& m) {
  const Offset wanted = (static_cast<Offset>(m.persons) + kGridThreads - 1) / kGridThreads;
  return static_cast<unsigned>(std::clamp<Offset>(wanted, 1, 8 * arena.multiprocessors()));
}

/// The most blocks that fit on the device at once, for the cooperative launch.
template <class Entries>
unsigned resident_blocks(gpu::Arena& arena) {
  int each = 0;
  MOTES_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, bidding_kernel<Entries, kGridThreads, true>,
                                                           kGridThreads, 0));
  return static_cast<unsigned>(std::max(1, each) * arena.multiprocessors());
}

template <class Entries>
void bid(gpu::Arena& arena, const Market<Entries>& m, Cost epsilon, unsigned grid) {
  if (m.persons > kFewBidders) {
    // At most one warp per person: idle blocks only slow the barriers.
    constexpr Index kWarps = kGridThreads / 32;
    const unsigned wanted = static_cast<unsigned>((m.persons + kWarps - 1) / kWarps);
    Market<Entries> market = m;
    int few = kFewBidders;
    void* arguments[] = {&market, &epsilon, &few};
    MOTES_CUDA(cudaLaunchCooperativeKernel(
        reinterpret_cast<const void*>(&bidding_kernel<Entries, kGridThreads, true>), std::min(grid, wanted),
        kGridThreads, arguments, 0, arena.stream()));
  }
  bidding_kernel<Entries, kBlockThreads, false><<<1, kBlockThreads, 0, arena.stream()>>>(m, epsilon, 0);
  MOTES_CUDA_LAUNCHED();
}

/// The columns' entries as rows, in device memory.
template <class T>
DenseEntries<T> columns_of(gpu::Arena&, const DenseEntries<T>& e) {
  return detail::exchanged(e);
}
GeometricEntries columns_of(gpu::Arena&, const GeometricEntries& e) { return detail::exchanged(e); }

__global__ void count_columns_kernel(SparseEntries e, Offset edges, Offset* count) {
  for (Offset k = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x; k < edges;
       k += static_cast<Offset>(gridDim.x) * blockDim.x)
    atomicAdd(reinterpret_cast<unsigned long long*>(&count[e.col_index[k] + 1]), 1ULL);
}
__global__ void fill_columns_kernel(SparseEntries e, Offset* next, Index* row, Cost* cost) {
  for (Index i = gpu::thread_index(); i < e.rows; i += gpu::thread_total())
    for (Offset k = e.offsets[i]; k < e.offsets[i + 1]; ++k) {
      const auto place =
          static_cast<Offset>(atomicAdd(reinterpret_cast<unsigned long long*>(&next[e.col_index[k]]), 1ULL));
      row[place] = i;
      cost[place] = e.cost[k];
    }
}

/// The rows of a column are unsorted: offers are compared, ties go to the lowest row, and rows are never
/// searched for.
SparseEntries columns_of(gpu::Arena& arena, const SparseEntries& e) {
  const auto cols = static_cast<std::size_t>(e.cols);
  Offset edges = 0;
  MOTES_CUDA(
      cudaMemcpyAsync(&edges, e.offsets + e.rows, sizeof edges, cudaMemcpyDeviceToHost, arena.stream()));
  arena.synchronize();
  Offset* offsets = arena.take_filled<Offset>(cols + 1, 0);
  Offset* next = arena.take<Offset>(cols + 1);
  Index* row = arena.take<Index>(static_cast<std::size_t>(edges));
  Cost* cost = arena.take<Cost>(static_cast<std::size_t>(edges));
  const int blocks = 8 * arena.multiprocessors();
  count_columns_kernel<<<blocks, 256, 0, arena.stream()>>>(e, edges, offsets);
  MOTES_CUDA_LAUNCHED();
  std::size_t bytes = 0;
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(nullptr, bytes, offsets, next, e.cols + 1, arena.stream()));
  void* scratch = arena.take<char>(bytes);
  MOTES_CUDA(cub::DeviceScan::InclusiveSum(scratch, bytes, offsets, next, e.cols + 1, arena.stream()));
  MOTES_CUDA(
      cudaMemcpyAsync(offsets, next, (cols + 1) * sizeof(Offset), cudaMemcpyDeviceToDevice, arena.stream()));
  fill_columns_kernel<<<blocks, 256, 0, arena.stream()>>>(e, next, row, cost);
  MOTES_CUDA_LAUNCHED();
  return {e.cols, e.rows, offsets, row, cost};
}

/// Memory for the rounds of a direction, and for its short lists.
template <class Entries>
void make_room(gpu::Arena& arena, Market<Entries>& m, int frontier) {
  const auto persons = static_cast<std::size_t>(m.persons), objects = static_cast<std::size_t>(m.objects);
  m.next_dual = arena.take<Cost>(objects);
  m.winner = arena.take_filled<unsigned long long>(objects, 0xff);
  m.frontier = {{arena.take<Index>(persons), arena.take<Index>(persons)},
                m.control->count[frontier],
                &m.control->current[frontier]};
  m.bid_object = arena.take<Index>(persons);
  m.bid_dual = arena.take<Cost>(persons);
  m.bid_cost = arena.take<Cost>(persons);
  m.bid_value = arena.take<Cost>(persons);
  if constexpr (!std::is_same_v<Entries, SparseEntries>) {
    // Filled, since entries are read before it is known whether they are valid.
    m.list_object = arena.take_filled<Index>(persons * kListed, 0xff);
    m.list_cost = arena.take_filled<Cost>(persons * kListed, 0);
    m.list_bound = arena.take_filled<Cost>(persons, 0);
    m.list_made = arena.take_filled<int>(persons, 0);
  }
}

template <class Entries>
void synchronise_next_duals(gpu::Arena& arena, const Market<Entries>& m) {
  MOTES_CUDA(cudaMemcpyAsync(m.next_dual, m.dual, static_cast<std::size_t>(m.objects) * sizeof(Cost),
                             cudaMemcpyDeviceToDevice, arena.stream()));
}

template <class Entries>
Cost typical_gap(gpu::Arena& arena, const Market<Entries>& m) {
  const Index sample = std::min<Index>(m.persons, detail::kGapSample);
  long long* sum = arena.take_filled<long long>(1, 0);
  int* count = arena.take_filled<int>(1, 0);
  gap_kernel<<<4 * arena.multiprocessors(), kGridThreads, 0, arena.stream()>>>(m, sample, sum, count);
  MOTES_CUDA_LAUNCHED();
  const int found = arena.download(count, 1)[0];
  return found == 0 ? 0 : arena.download(sum, 1)[0] / found;
}

/// The market whose persons are the rows.
template <class Entries>
Market<Entries> market_of_rows(gpu::Arena& arena, const CanonicalSides& sides,
                               const DeviceCanonical<Entries>& problem, const AuctionScale& scale,
                               const detail::AuctionStart& start) {
  const auto rows = static_cast<std::size_t>(problem.rows);
  auto* control = arena.take_filled<AuctionControl>(1, 0);
  const long long budget = detail::round_budget(sides);
  MOTES_CUDA(
      cudaMemcpyAsync(&control->rounds_left, &budget, sizeof budget, cudaMemcpyHostToDevice, arena.stream()));
  Market<Entries> m;
  m.entries = problem.entries;
  m.persons = problem.rows, m.objects = problem.cols;
  m.steps = scale.steps, m.widest = scale.widest;
  m.exit = problem.row_exit;
  m.value = arena.take_filled<Cost>(rows, 0);
  m.dual = arena.upload(std::span<const Cost>(start.v));
  m.object_of = arena.upload(std::span<const Index>(start.row_to_col));
  m.person_of = arena.upload(std::span<const Index>(start.col_to_row));
  m.pair_cost = arena.take_filled<Cost>(rows, 0);
  m.control = control;
  m.phase = 1;
  make_room(arena, m, 0);
  return m;
}

/// The market whose persons are the columns, for reverse phases: the rows' arrays with the sides exchanged.
template <class Entries>
Market<Entries> market_of_columns(gpu::Arena& arena, const DeviceCanonical<Entries>& problem,
                                  const Market<Entries>& m) {
  Market<Entries> columns;
  columns.entries = columns_of(arena, problem.entries);
  columns.persons = m.objects, columns.objects = m.persons;
  columns.steps = m.steps, columns.widest = m.widest;
  columns.exit = problem.start;
  columns.value = m.dual, columns.dual = m.value;
  columns.object_of = m.person_of, columns.person_of = m.object_of;
  columns.pair_cost = m.pair_cost;
  columns.rows_bid = false;
  columns.control = m.control;
  make_room(arena, columns, 1);
  return columns;
}

template <class Entries>
AuctionResult run_auction(gpu::Arena& arena, const CanonicalSides& sides,
                          const DeviceCanonical<Entries>& problem, const AuctionScale& scale,
                          const AuctionOptions& options, const detail::AuctionStart& start,
                          std::vector<Cost>& pair_cost) {
  const auto rows = static_cast<std::size_t>(problem.rows), cols = static_cast<std::size_t>(problem.cols);
  Market<Entries> m = market_of_rows(arena, sides, problem, scale, start);
  const unsigned grid = resident_blocks<Entries>(arena), blocks = blocks_for(arena, m);
  if (start.warm) {
    given_pairs_kernel<<<blocks, kGridThreads, 0, arena.stream()>>>(m);
    MOTES_CUDA_LAUNCHED();
  }
  Cost gap = 0;
  if (options.scaled) gap = typical_gap(arena, m);
  list_free_persons_kernel<<<blocks, kGridThreads, 0, arena.stream()>>>(m);
  MOTES_CUDA_LAUNCHED();
  Market<Entries> columns;  // made when first needed
  const bool reverse = !problem.perfect && options.reverse;
  const std::vector<Cost> epsilons = detail::auction_epsilons(options, gap);
  m.ceiling = detail::feasible_ceiling(sides, scale, start, epsilons.front());
  for (const Cost epsilon : epsilons) {
    if (start.warm || m.phase > 1) {
      give_up_kernel<<<std::min(grid, 8 * blocks), kGridThreads, 0, arena.stream()>>>(m, epsilon);
      MOTES_CUDA_LAUNCHED();
    }
    synchronise_next_duals(arena, m);
    bid(arena, m, epsilon, grid);
    m.ceiling = kNoOffer;
    // A cold first phase leaves free columns at their starting prices.
    if (reverse && (start.warm || m.phase > 1)) {
      if (columns.control == nullptr) columns = market_of_columns(arena, problem, m);
      columns.phase = m.phase;
      stale_kernel<<<blocks_for(arena, columns), kGridThreads, 0, arena.stream()>>>(columns);
      MOTES_CUDA_LAUNCHED();
      synchronise_next_duals(arena, columns);
      bid(arena, columns, epsilon, grid);
    }
    ++m.phase;
  }
  const AuctionControl end = arena.download(m.control, 1)[0];
  AuctionResult out;
  out.infeasible = end.infeasible != 0;
  out.unfinished = end.stop != 0 && !out.infeasible;
  out.reversed = end.last_rise == m.phase - 1;
  out.row_to_col = arena.download(m.object_of, rows);
  out.v = arena.download(m.dual, cols);
  if (out.reversed) {
    out.u = arena.download(m.value, rows);
    pair_cost = arena.download(m.pair_cost, rows);
    for (Cost& c : pair_cost) c /= scale.steps;
  }
  out.stats.initial_assignments = start.pairs;
  out.stats.phases = m.phase - 1;
  out.stats.rounds = end.rounds;
  out.stats.augmentations = end.bids;
  return out;
}

/// Short lists of a full matrix or of points, made on the device for bids on the host.
template <class Entries>
class DeviceLists final : public detail::ListSource {
 public:
  DeviceLists(gpu::Arena& arena, const DeviceCanonical<Entries>& problem, const AuctionScale& scale)
      : arena_(arena) {
    const auto rows = static_cast<std::size_t>(problem.rows);
    m_.entries = problem.entries;
    m_.persons = problem.rows, m_.objects = problem.cols;
    m_.steps = scale.steps;
    m_.dual = arena.take<Cost>(static_cast<std::size_t>(problem.cols));
    m_.list_object = arena.take<Index>(rows * kListed);
    m_.list_cost = arena.take<Cost>(rows * kListed);
    m_.list_bound = arena.take<Cost>(rows);
    m_.list_made = arena.take_filled<int>(rows, 0);
    m_.phase = 1;
    persons_ = arena.take<Index>(rows);
    object_ = arena.take<Index>(rows * kListed);
    cost_ = arena.take<Cost>(rows * kListed);
    bound_ = arena.take<Cost>(rows);
  }
  int listed() const override { return kListed; }
  void make(std::span<const Index> persons, const std::vector<Cost>& dual, Index* object, Cost* cost,
            Cost* bound) override {
    const auto count = static_cast<Index>(persons.size());
    if (count == 0) return;
    send(m_.dual, dual.data(), dual.size());
    send(persons_, persons.data(), persons.size());
    const unsigned most = 8U * static_cast<unsigned>(arena_.multiprocessors());
    const unsigned blocks = std::min(most, static_cast<unsigned>(count));
    if (blocks < most)  // few rows: as many threads for each as possible
      lists_kernel<Entries, kBlockThreads>
          <<<blocks, kBlockThreads, 0, arena_.stream()>>>(m_, persons_, count);
    else
      lists_kernel<Entries, kGridThreads><<<blocks, kGridThreads, 0, arena_.stream()>>>(m_, persons_, count);
    MOTES_CUDA_LAUNCHED();
    gather_lists_kernel<<<blocks, kGridThreads, 0, arena_.stream()>>>(m_, persons_, count, object_, cost_,
                                                                      bound_);
    MOTES_CUDA_LAUNCHED();
    fetch(object, object_, persons.size() * kListed);
    fetch(cost, cost_, persons.size() * kListed);
    fetch(bound, bound_, persons.size());
    arena_.synchronize();
  }

 private:
  template <class T>
  void send(T* to, const T* from, std::size_t count) {
    MOTES_CUDA(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, arena_.stream()));
  }
  template <class T>
  void fetch(T* to, const T* from, std::size_t count) {
    MOTES_CUDA(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, arena_.stream()));
  }

  gpu::Arena& arena_;
  Market<Entries> m_;
  Index *persons_ = nullptr, *object_ = nullptr;
  Cost *cost_ = nullptr, *bound_ = nullptr;
};

/// As run_auction, with the bids on the host if that is faster: for square problems with short lists, scaled.
template <class Entries>
AuctionResult run_where_best(const Execution& execution, gpu::Arena& arena, const CanonicalSides& sides,
                             const DeviceCanonical<Entries>& problem, const AuctionScale& scale,
                             const AuctionOptions& options, const detail::AuctionStart& start,
                             std::vector<Cost>& pair_cost) {
  if constexpr (!std::is_same_v<Entries, SparseEntries>) {
    if (options.scaled && sides.perfect && !start.warm) {
      DeviceLists<Entries> lists(arena, problem, scale);
      return detail::auction_on_lists(execution, sides, scale, options, start, lists);
    }
  }
  return run_auction(arena, sides, problem, scale, options, start, pair_cost);
}

}  // namespace
}  // namespace device

namespace detail {

Matching auction_on_device(const Execution& execution, const CostsView& problem, const Start& start,
                           const AuctionOptions& options, AuctionLeftover& leftover) {
  return device::solve_on_device(
      execution, problem, [&](gpu::Arena& arena, CanonicalSides sides, const auto& canonical) {
        const auto begin = std::chrono::steady_clock::now();
        sides.start = arena.download(canonical.start, static_cast<std::size_t>(sides.cols));
        const AuctionScale scale = auction_scale(sides);
        std::vector<Cost> pair_cost;
        AuctionResult result = device::run_where_best(execution, arena, sides, canonical, scale, options,
                                                      auction_start(sides, scale, start), pair_cost);
        Solution solution = solution_of(sides, scale, std::move(result), pair_cost, leftover);
        solution.stats.seconds["auction"] = seconds_since(begin);
        return device::on_device(arena, std::move(solution));
      });
}

Matching with_host_copy(const CostsView& problem, const std::function<Matching(const CostsView&)>& f) {
  const device::HostUnmatched unmatched = device::host_unmatched(problem);
  const CostsView readable = device::with_unmatched(problem, unmatched);
  const auto copy = [](auto* to, const auto* from, std::size_t count) {
    if (count > 0) MOTES_CUDA(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost));
  };
  if (const auto* sparse = std::get_if<SparseCostsView>(&problem)) {
    const SparseCosts host = copy_to_host(*sparse);
    return f(host.view());
  }
  if (auto points = std::get_if<GeometricCostsView>(&readable)) {
    GeometricCostsView view = *points;
    std::vector<std::vector<double>> kept;
    for (PointsView* side : {&view.row_points, &view.col_points})
      for (std::span<const double>* axis : {&side->x, &side->y, &side->z}) {
        kept.emplace_back(axis->size());
        copy(kept.back().data(), axis->data(), axis->size());
        *axis = kept.back();
      }
    view.space = Space::host;
    return f(view);
  }
  DenseCostsView view = std::get<DenseCostsView>(readable);
  return std::visit(
      [&](const auto* data) {
        std::vector<std::decay_t<decltype(*data)>> host(static_cast<std::size_t>(view.rows) *
                                                        static_cast<std::size_t>(view.cols));
        const std::size_t width = static_cast<std::size_t>(view.cols) * sizeof *data;
        if (!host.empty())
          MOTES_CUDA(cudaMemcpy2D(host.data(), width, data,
                                  static_cast<std::size_t>(view.row_stride) * sizeof *data, width,
                                  static_cast<std::size_t>(view.rows), cudaMemcpyDeviceToHost));
        view.data = host.data();
        view.row_stride = view.cols;
        view.space = Space::host;
        return f(view);
      },
      view.data);
}

}  // namespace detail
}  // namespace motes::matching
