#pragma once
/// Lists that ranks with a GPU each have found, in rank 0's device memory.

#include <cstdint>
#include <span>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/gpu/device_communicator.cuh>

#include "matching/assignment/core/core_solver.cuh"

namespace motes::matching::device::core {

/// Collective: every rank makes the same calls. Arrays are taken from rank 0's arena.
class RankLists {
 public:
  RankLists(gpu::Arena& arena, gpu::DeviceCommunicator& devices, Communicator& hosts)
      : arena_(arena), devices_(devices), hosts_(hosts) {}

  /// Rank 0's array of what all ranks have, counts[k] * each of rank k; nullptr elsewhere.
  template <class V>
  V* gather(const V* mine, const std::vector<std::int64_t>& counts, std::int64_t each) const {
    std::vector<std::size_t> bytes;
    std::size_t total = 0;
    for (const std::int64_t count : counts) {
      bytes.push_back(static_cast<std::size_t>(count * each) * sizeof(V));
      total += static_cast<std::size_t>(count * each);
    }
    V* all = hosts_.rank() == 0 ? arena_.take<V>(total + 1) : nullptr;
    devices_.gather(mine, all, bytes, arena_.stream());
    return all;
  }

  /// What pricing found on all ranks; counts are known on all. `found` has rows as all ranks number them.
  Additions gather(const Additions& found) const {
    const std::int64_t sizes[] = {found.count, found.pairs};
    const auto of_ranks = hosts_.all_gather<std::int64_t>(sizes);
    std::vector<std::int64_t> counts;
    Additions all;
    for (std::size_t k = 0; k < of_ranks.size(); k += 2) {
      counts.push_back(of_ranks[k]);
      all.count += static_cast<Index>(of_ranks[k]);
      all.pairs += of_ranks[k + 1];
    }
    if (all.count == 0) return {};
    all.row = gather(found.row, counts, 1);
    all.length = gather(found.length, counts, 1);
    all.col = gather(found.col, counts, kAddedPerRow);
    all.cost = gather(found.cost, counts, kAddedPerRow);
    return all;
  }

 private:
  gpu::Arena& arena_;
  gpu::DeviceCommunicator& devices_;
  Communicator& hosts_;
};

}  // namespace motes::matching::device::core
