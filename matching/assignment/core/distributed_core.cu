/// `jv` on a matrix whose rows are distributed over GPUs, one for each rank: rank 0 runs the loop of
/// core_solver.cuh on its device, and the other ranks answer its questions with the kernels of one GPU
/// (dense_kernels.cuh) on their rows. Lists go from device to device by NCCL. If the core misleads, rank 0
/// gathers the matrix, if its device has room for it, and solves it like a single GPU, with annealed prices.

#include <exception>
#include <functional>

#include <motes/base/gpu/device.h>
#include <motes/base/gpu/device_communicator.cuh>
#include <motes/base/timer.h>
#include <motes/base/workspace.h>

#include "matching/assignment/core/dense_kernels.cuh"
#include "matching/assignment/core/distributed_core.h"
#include "matching/assignment/core/rank_lists.cuh"
#include "matching/assignment/jonker_volgenant_device.h"

namespace motes::matching::device {
namespace core {
namespace {

/// Requests of rank 0 to the other ranks.
enum class Order : std::int64_t { price, gather_whole, solve_whole, finish };

__global__ void shift_offsets_kernel(Offset* offsets, Index count, Offset by) {
  for (Index i = search::thread_index(); i < count; i += search::thread_total()) offsets[i] += by;
}
__global__ void shift_rows_kernel(Index* row, Index count, Index by) {
  for (Index k = search::thread_index(); k < count; k += search::thread_total()) row[k] += by;
}

/// A rank's rows on its device; on rank 0 also the policy of core_solver.cuh for all rows.
template <class T>
class DistributedPolicy {
 public:
  using Problem = DeviceCanonical<DenseEntries<T>>;

  DistributedPolicy(gpu::Arena& arena, gpu::DeviceCommunicator& devices, Communicator& hosts,
                    const CanonicalSides& sides, const Problem& mine, Index first,
                    const std::function<detail::Solution(const CanonicalSides&)>& without_core)
      : arena_(arena),
        devices_(devices),
        hosts_(hosts),
        sides_(sides),
        mine_(mine),
        first_(first),
        without_core_(without_core),
        lists_(arena, devices, hosts),
        policy_(kCorePairs, devices.size(), [this](Cost* price) {
          devices_.all_reduce_min(price, static_cast<std::size_t>(mine_.cols), arena_.stream());
        }) {
    std::size_t free = 0, total = 0;
    MOTES_CUDA(cudaMemGetInfo(&free, &total));
    has_room_ =
        static_cast<std::size_t>(sides.rows) * static_cast<std::size_t>(sides.cols) * sizeof(T) < free / 2;
  }

  Core select(gpu::Arena&, const Problem&, const search::State&, Cost* price, bool) {
    return select_on_all(price);
  }
  Additions price(gpu::Arena&, const Problem&, const search::State& s, const Cost* price, const Core&) {
    give(Order::price);
    return price_on_all(s.u, s.v, price);
  }
  /// There is a budget for a core that misleads only if the matrix can be gathered.
  bool can_anneal(const Problem&) const { return has_room_; }
  bool anneal(gpu::Arena&, const Problem&, Cost*) { return false; }  // solve_whole does
  bool annealed() const { return false; }
  detail::Solution solve_whole(gpu::Arena&, const CanonicalSides&, const Problem&, const Cost*) {
    give(has_room_ ? Order::gather_whole : Order::solve_whole);
    return has_room_ ? gather_and_solve() : solve_whole_on_all();
  }
  void finish() { give(Order::finish); }

  /// On the other ranks: answers requests from the selection until rank 0 has finished.
  void serve() {
    const auto rows = static_cast<std::size_t>(sides_.rows), cols = static_cast<std::size_t>(sides_.cols);
    Cost *u = arena_.take<Cost>(rows), *v = arena_.take<Cost>(cols), *price = arena_.take<Cost>(cols);
    MOTES_CUDA(
        cudaMemcpyAsync(price, mine_.start, cols * sizeof(Cost), cudaMemcpyDeviceToDevice, arena_.stream()));
    select_on_all(price);
    while (true) {
      std::int64_t order = 0;
      hosts_.broadcast(std::span(&order, 1));
      if (static_cast<Order>(order) == Order::finish) return;
      if (static_cast<Order>(order) == Order::gather_whole)
        gather_and_solve();
      else if (static_cast<Order>(order) == Order::solve_whole)
        solve_whole_on_all();
      else
        price_on_all(u, v, price);
    }
  }

 private:
  void give(Order order) {
    auto number = static_cast<std::int64_t>(order);
    hosts_.broadcast(std::span(&number, 1));
  }
  detail::Solution solve_whole_on_all() {
    arena_.synchronize();  // its memory goes to what solves now
    return without_core_(sides_);
  }
  /// Rank 0 solves the matrix of all ranks.
  detail::Solution gather_and_solve() {
    DenseEntries<T> entries = mine_.entries;
    const auto rows = static_cast<std::size_t>(entries.rows), cols = static_cast<std::size_t>(entries.cols);
    if (entries.rows > 1 && entries.row_stride != entries.cols) {
      T* data = arena_.take<T>(rows * cols);
      MOTES_CUDA(cudaMemcpy2DAsync(data, cols * sizeof(T), entries.data,
                                   static_cast<std::size_t>(entries.row_stride) * sizeof(T), cols * sizeof(T),
                                   rows, cudaMemcpyDeviceToDevice, arena_.stream()));
      entries.data = data;
    }
    const std::int64_t count[] = {entries.rows};
    const std::vector<std::int64_t> rows_of_ranks = hosts_.all_gather<std::int64_t>(count);
    entries.data = lists_.gather(entries.data, rows_of_ranks, entries.cols);
    if (hosts_.rank() > 0) return {};
    entries.rows = sides_.rows;
    entries.row_stride = entries.cols;
    Problem whole = mine_;
    whole.rows = sides_.rows;
    whole.entries = entries;
    whole.row_least = survey_entries(arena_, entries).row_least;
    return solve_dense<T>(arena_, sides_, whole, {}, kCorePairs);
  }
  int blocks() const { return 8 * arena_.multiprocessors(); }

  /// Every rank selects from its rows; rank 0 gets the core of all.
  Core select_on_all(Cost* price) {
    const search::State none{nullptr, nullptr, nullptr, nullptr};
    core_ = policy_.select(arena_, mine_, none, price, true);
    std::vector<std::int64_t> rows, pairs;
    const std::int64_t sizes[] = {mine_.rows, core_.pairs};
    const auto all = hosts_.all_gather<std::int64_t>(sizes);
    for (std::size_t k = 0; k < all.size(); k += 2) rows.push_back(all[k]), pairs.push_back(all[k + 1]);
    Core whole;
    Offset* offsets = lists_.gather(core_.entries.offsets, rows, 1);
    whole.entries = {sides_.rows, sides_.cols, offsets, lists_.gather(core_.entries.col_index, pairs, 1),
                     lists_.gather(core_.entries.cost, pairs, 1)};
    if (hosts_.rank() > 0) return whole;
    Index first = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      // The last rank's block has the end of all behind it: offsets hold rows + 1 numbers.
      const bool last = k + 1 == rows.size();
      const auto count = static_cast<Index>(rows[k]);
      if (last) {
        const Offset end = pairs[k];
        MOTES_CUDA(cudaMemcpyAsync(offsets + first + count, &end, sizeof end, cudaMemcpyHostToDevice,
                                   arena_.stream()));
        arena_.synchronize();
      }
      shift_offsets_kernel<<<blocks(), 256, 0, arena_.stream()>>>(offsets + first, count + (last ? 1 : 0),
                                                                  whole.pairs);
      MOTES_CUDA_LAUNCHED();
      whole.pairs += pairs[k];
      first += count;
    }
    return whole;
  }

  /// u [rows of all], v [cols]: of rank 0.
  Additions price_on_all(Cost* u, Cost* v, const Cost* price) {
    devices_.broadcast(u, static_cast<std::size_t>(sides_.rows) * sizeof(Cost), 0, arena_.stream());
    devices_.broadcast(v, static_cast<std::size_t>(sides_.cols) * sizeof(Cost), 0, arena_.stream());
    const search::State here{u + first_, v, nullptr, nullptr};
    const Additions found = policy_.price(arena_, mine_, here, price, core_);
    if (found.count > 0) {  // a list of the policy, which makes a new one each time
      shift_rows_kernel<<<blocks(), 256, 0, arena_.stream()>>>(const_cast<Index*>(found.row), found.count,
                                                               first_);
      MOTES_CUDA_LAUNCHED();
    }
    return lists_.gather(found);
  }

  gpu::Arena& arena_;
  gpu::DeviceCommunicator& devices_;
  Communicator& hosts_;
  const CanonicalSides& sides_;
  Problem mine_;  ///< the rows here
  Index first_;
  const std::function<detail::Solution(const CanonicalSides&)>& without_core_;
  RankLists lists_;
  DensePolicy<T> policy_;
  Core core_;              ///< of the rows here
  bool has_room_ = false;  ///< this device, for the matrix of all ranks
};

}  // namespace
}  // namespace core

template <class T>
detail::Solution solve_distributed_core(Communicator& ranks, const Execution& execution,
                                        const DenseEntries<T>& host, const DenseEntries<T>* on_device,
                                        Index first, const DistributedDeviceCalls& calls) {
  const auto begun = std::chrono::steady_clock::now();
  const int device = gpu::device_of_rank(ranks);
  Workspace own;
  gpu::Arena* arena = nullptr;
  DenseEntries<T> entries;
  ranks.agreed([&] {
    arena = &(execution.workspace != nullptr ? *execution.workspace : own).arena(device);
    arena->reset();
  });
  gpu::DeviceCommunicator& devices = gpu::DeviceCommunicator::of(ranks, device);
  ranks.agreed([&] {
    const bool there = on_device != nullptr;
    entries = there ? *on_device : host;
    if (entries.rows > 0 && entries.cols > 0 && entries.col_stride != 1) {
      const DenseEntries<T> lying = detail::exchanged(entries);
      entries = transposed(*arena, there ? lying : to_device(*arena, lying, Space::host, 0));
    } else if (!there) {
      entries = to_device(*arena, entries, Space::host, 0);
    }
    arena->synchronize();
  });
  const double transfer_s = seconds_since(begun);
  const auto sent = devices.traffic();
  Survey survey;
  ranks.agreed([&] {
    if (entries.rows > 0) survey = survey_entries(*arena, entries);
  });
  const CanonicalSides sides = calls.make_sides(survey.largest);
  detail::Solution solution;
  if (sides.rows < ranks.size() || sides.cols == 0) {
    solution = calls.without_core(sides);
  } else {
    DeviceCanonical<DenseEntries<T>> mine{
        entries.rows,  sides.cols,      entries, nullptr, arena->upload(std::span<const Cost>(sides.start)),
        sides.perfect, survey.row_least};
    if (!sides.row_exit.empty()) mine.row_exit = arena->upload(sides.row_exit);
    core::DistributedPolicy<T> policy(*arena, devices, ranks, sides, mine, first, calls.without_core);
    if (ranks.rank() > 0) {
      policy.serve();
    } else {
      DeviceCanonical<DenseEntries<T>> all = mine;
      all.rows = sides.rows;
      solution = core::solve(*arena, sides, all, {}, policy);
      policy.finish();
    }
    arena->synchronize();
  }
  detail::share_solution(ranks, solution);
  solution.stats.seconds["transfer"] = transfer_s;
  solution.stats.messages += devices.traffic().calls - sent.calls;
  solution.stats.bytes_sent += devices.traffic().bytes - sent.bytes;
  return solution;
}

#define MOTES_DISTRIBUTED(T)                                                                                \
  template detail::Solution solve_distributed_core(Communicator&, const Execution&, const DenseEntries<T>&, \
                                                   const DenseEntries<T>*, Index,                           \
                                                   const DistributedDeviceCalls&);
MOTES_DISTRIBUTED(std::int32_t)
MOTES_DISTRIBUTED(std::int64_t)
MOTES_DISTRIBUTED(float)
MOTES_DISTRIBUTED(double)
#undef MOTES_DISTRIBUTED

}  // namespace motes::matching::device
