/// The Hungarian solvers over several ranks with a GPU each: matrix slices stay on the devices, lists and
/// minima travel between them by NCCL, and every host runs the same search (tree_search.h, cover_search.h).

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/workspace.h>

#include "matching/papers/hungarian/distributed_columns.cuh"
#include "matching/papers/hungarian/distributed_rows.cuh"
#include "matching/papers/hungarian/distributed_start.h"
#include "matching/papers/hungarian/solve_distributed.h"

namespace motes::matching::device {

template <class Entries>
detail::Solution solve_part(Communicator& ranks, const Execution& execution, bool by_covers,
                            const detail::CanonicalSides& sides, const Entries& entries, Index first) {
  if constexpr (std::is_same_v<Entries, SparseEntries>) {
    ranks.agreed([] {
      throw std::invalid_argument(
          "sparse costs have no form for several ranks on GPUs; use the cpu back end");
    });
    return {};
  } else {
    const auto begun = std::chrono::steady_clock::now();
    const int device = gpu::device_of_rank(ranks);
    Workspace own;
    std::optional<hungarian::DistributedMatrix<Entries>> matrix;
    gpu::DeviceCommunicator* devices = nullptr;
    gpu::Arena* arena = nullptr;
    ranks.agreed([&] {
      arena = &(execution.workspace != nullptr ? *execution.workspace : own).arena(device);
      arena->reset();
    });
    devices = &gpu::DeviceCommunicator::of(ranks, device);
    ranks.agreed([&] {
      matrix.emplace(*arena, *devices, ranks, sides, entries, by_covers, first);
      arena->synchronize();
    });
    const auto sent = devices->traffic();
    detail::StartState state;
    Stats stats;
    const double transfer_s = seconds_since(begun);
    bool feasible = detail::begin_distributed(sides, *matrix, state, stats);
    if (feasible && by_covers) {
      std::optional<hungarian::DeviceRows<Entries>> rows;
      ranks.agreed([&] { rows.emplace(*matrix, sides, state); });
      feasible = detail::CoverSearch(sides, state, *rows, stats).run();
    } else if (feasible) {
      std::optional<hungarian::DeviceColumns<Entries>> columns;
      ranks.agreed([&] { columns.emplace(*matrix, sides, state); });
      feasible = detail::TreeSearch(sides, state, *columns, stats).run();
    }
    arena->synchronize();
    stats.seconds["transfer"] = transfer_s;
    stats.messages = devices->traffic().calls - sent.calls;
    stats.bytes_sent = devices->traffic().bytes - sent.bytes;
    return {std::move(state.row_to_col), std::move(state.v), !feasible, std::move(stats)};
  }
}

#define MOTES_DISTRIBUTED(Entries)                                                                           \
  template detail::Solution solve_part(Communicator&, const Execution&, bool, const detail::CanonicalSides&, \
                                       const Entries&, Index);
MOTES_DISTRIBUTED(SparseEntries)
MOTES_DISTRIBUTED(DenseEntries<std::int32_t>)
MOTES_DISTRIBUTED(DenseEntries<std::int64_t>)
MOTES_DISTRIBUTED(DenseEntries<float>)
MOTES_DISTRIBUTED(DenseEntries<double>)
MOTES_DISTRIBUTED(GeometricEntries)
#undef MOTES_DISTRIBUTED

}  // namespace motes::matching::device
