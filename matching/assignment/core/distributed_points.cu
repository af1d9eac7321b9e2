/// `jv` on points over GPUs, one for each rank. Every device has all points and the trees of both sides,
/// which are the same everywhere. A rank asks for a block of the places of each tree's order; rank 0 gathers
/// the lists, runs the loop of core_solver.cuh, and in each round sends the duals and gets the pairs that
/// violate them. Lists go from device to device by NCCL.

#include <exception>

#include <motes/base/gpu/device.h>
#include <motes/base/gpu/device_communicator.cuh>
#include <motes/base/timer.h>
#include <motes/base/workspace.h>

#include "matching/assignment/core/distributed_core.h"
#include "matching/assignment/core/point_policy.cuh"
#include "matching/assignment/core/rank_lists.cuh"

namespace motes::matching::device {
namespace points {
namespace {

/// Requests of rank 0 to the other ranks.
enum class Order : std::int64_t { select, price, finish };

/// One warp per row: from positions in the order to the rows at these positions.
__global__ void by_row_kernel(Lists from, const Index* original, Index count, Lists to) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (Index r = warp_index(); r < count; r += warp_total()) {
    const Index i = original[r], length = from.length[r];
    if (lane == 0) to.length[i] = length;
    if (lane >= length) continue;
    const Offset here = static_cast<Offset>(r) * from.wanted + lane,
                 there = static_cast<Offset>(i) * from.wanted + lane;
    to.col[there] = from.col[here], to.cost[there] = from.cost[here];
  }
}

class DistributedPointPolicy final : public PointPolicy {
 public:
  using Problem = DeviceCanonical<GeometricEntries>;

  DistributedPointPolicy(gpu::Arena& arena, gpu::DeviceCommunicator& devices, Communicator& hosts,
                         const Problem& p)
      : PointPolicy(arena, p),
        arena_(arena),
        devices_(devices),
        hosts_(hosts),
        lists_(arena, devices, hosts),
        problem_(p) {}

  Core select(gpu::Arena& arena, const Problem& p, const search::State&, Cost* price, bool unpriced) {
    if (auto all = all_pairs(arena, p, kCompletePerRow)) return *all;
    give(Order::select);
    return core_ = neighbours(arena, p, price, unpriced);
  }
  Additions price(gpu::Arena&, const Problem&, const search::State& s, const Cost* price, const Core& core) {
    if (complete()) return {};
    give(Order::price);
    return price_on_all(s, price, core);
  }
  void finish() { give(Order::finish); }

  /// On the other ranks: answers requests until rank 0 has finished.
  void serve() {
    const auto rows = static_cast<std::size_t>(problem_.rows), cols = static_cast<std::size_t>(problem_.cols);
    const search::State duals{arena_.take<Cost>(rows), arena_.take<Cost>(cols), nullptr, nullptr};
    Cost* price = arena_.take<Cost>(cols);
    MOTES_CUDA(cudaMemcpyAsync(price, problem_.start, cols * sizeof(Cost), cudaMemcpyDeviceToDevice,
                               arena_.stream()));
    while (true) {
      std::int64_t order = 0;
      hosts_.broadcast(std::span(&order, 1));
      switch (static_cast<Order>(order)) {
        case Order::select:
          core_ = neighbours(arena_, problem_, price, true);
          break;
        case Order::price:
          price_on_all(duals, price, core_);
          break;
        case Order::finish:
          return;
      }
    }
  }

 private:
  void give(Order order) {
    auto number = static_cast<std::int64_t>(order);
    hosts_.broadcast(std::span(&number, 1));
  }

  Block part_of(const PointTreeView& from) const override {
    return block_of(from.count, hosts_.rank(), hosts_.size());
  }
  bool leads() const override { return hosts_.rank() == 0; }

  Lists answer(gpu::Arena& arena, Question q, Cost* bound) override {
    const auto all = static_cast<std::size_t>(q.from.count);
    const Lists by_row = leads() ? lists(arena, q.wanted, all, bound) : Lists{};
    const auto mark = arena.mark();
    const Lists mine = lists(arena, q.wanted, static_cast<std::size_t>(part_of(q.from).count), bound, true);
    ask_here(arena, q, mine);
    const std::vector<std::int64_t> counts = counts_of(q.from);
    const Lists gathered{q.wanted, lists_.gather(mine.length, counts, 1),
                         lists_.gather(mine.col, counts, q.wanted),
                         lists_.gather(mine.cost, counts, q.wanted)};
    if (leads()) {
      by_row_kernel<<<warp_blocks(arena, q.from.count), kThreads, 0, arena.stream()>>>(
          gathered, q.from.original, q.from.count, by_row);
      MOTES_CUDA_LAUNCHED();
    }
    arena.release(mark);
    return by_row;
  }

  void share(gpu::Arena& arena, Cost* price, Index cols) override {
    devices_.broadcast(price, static_cast<std::size_t>(cols) * sizeof(Cost), 0, arena.stream());
  }

  /// The duals are rank 0's.
  Additions price_on_all(const search::State& s, const Cost* price, const Core& core) {
    devices_.broadcast(s.u, static_cast<std::size_t>(problem_.rows) * sizeof(Cost), 0, arena_.stream());
    devices_.broadcast(s.v, static_cast<std::size_t>(problem_.cols) * sizeof(Cost), 0, arena_.stream());
    return lists_.gather(PointPolicy::price(arena_, problem_, s, price, core));
  }

  /// The number of positions that each rank asks for.
  std::vector<std::int64_t> counts_of(const PointTreeView& from) const {
    std::vector<std::int64_t> counts;
    for (int k = 0; k < hosts_.size(); ++k) counts.push_back(block_of(from.count, k, hosts_.size()).count);
    return counts;
  }
  gpu::Arena& arena_;
  gpu::DeviceCommunicator& devices_;
  Communicator& hosts_;
  core::RankLists lists_;
  Problem problem_;
  Core core_;  ///< its bounds, of the rows that ask here
};

}  // namespace
}  // namespace points

detail::Solution solve_distributed_points(Communicator& ranks, const Execution& execution,
                                          const CanonicalSides& sides, const GeometricEntries& host) {
  const auto begun = std::chrono::steady_clock::now();
  const int device = gpu::device_of_rank(ranks);
  Workspace own;
  gpu::Arena* arena = nullptr;
  DeviceCanonical<GeometricEntries> p{sides.rows, sides.cols, {}, nullptr, nullptr, sides.perfect};
  ranks.agreed([&] {
    arena = &(execution.workspace != nullptr ? *execution.workspace : own).arena(device);
    arena->reset();
  });
  gpu::DeviceCommunicator& devices = gpu::DeviceCommunicator::of(ranks, device);
  ranks.agreed([&] {
    p.entries = to_device(*arena, host, Space::host, 0);
    p.start = arena->upload(std::span<const Cost>(sides.start));
    if (!sides.row_exit.empty()) p.row_exit = arena->upload(sides.row_exit);
    arena->synchronize();
  });
  const double transfer_s = seconds_since(begun);
  const auto sent = devices.traffic();
  const auto solving = std::chrono::steady_clock::now();
  detail::Solution solution;
  points::DistributedPointPolicy policy(*arena, devices, ranks, p);
  if (ranks.rank() > 0) {
    policy.serve();
  } else {
    solution = core::solve(*arena, sides, p, {}, policy);
    policy.finish();
  }
  arena->synchronize();
  solution.stats.seconds["on_devices"] = seconds_since(solving);
  detail::share_solution(ranks, solution);
  solution.stats.seconds["transfer"] = transfer_s;
  solution.stats.messages += devices.traffic().calls - sent.calls;
  solution.stats.bytes_sent += devices.traffic().bytes - sent.bytes;
  return solution;
}

}  // namespace motes::matching::device
