/// Rows take free columns, in one sequential or parallel pass.

#include "matching/cardinality/push_relabel/free_columns.h"

#include <algorithm>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/prefetch.h>
#include <motes/base/raw_array.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching::detail {
template <class Graph>
std::vector<std::vector<Index>> take_free_columns(const Graph& graph, const Partition& partition, int threads,
                                                  bool by_place, Mates& mates, CardinalityStats& stats) {
  const Timed timed(stats, "start");
  const auto match = [&](Index i, Index begin, Index end) {
    for (const Index j : graph.cols_of(i)) {
      if (j < begin || j >= end) continue;
      Index& mate = mates.col_to_row[at(j)];
      Index none = -1;
      if (peek(mate) != -1) continue;
      if (threads > 1 && !std::atomic_ref(mate).compare_exchange_strong(none, i, std::memory_order_relaxed))
        continue;
      put(mate, i);
      mates.row_to_col[at(i)] = j;
      return true;
    }
    return false;
  };
  const auto same_share = [&](Index row) {
    return static_cast<Index>(Offset{graph.cols} * row / std::max(graph.rows, 1));
  };
  std::vector<std::vector<Index>> free(at(threads));
  std::int64_t pairs = 0;
  const auto count = [&](std::int64_t made) {
    std::atomic_ref(pairs).fetch_add(made, std::memory_order_relaxed);
  };
  partition.over_parts(threads, [&](std::size_t part) {
    const Index begin = by_place ? same_share(partition.first_row(part)) : 0;
    const Index end = by_place ? same_share(partition.end_row(part)) : graph.cols;
    std::vector<Index> left;  // separate from the other threads' data
    left.swap(free[part % free.size()]);
    std::int64_t made = 0;
    for (Index i = partition.first_row(part); i < partition.end_row(part); ++i) {
      if (mates.row_to_col[at(i)] != -1 || graph.row_offsets[i] == graph.row_offsets[i + 1]) continue;
      if (match(i, begin, end))
        ++made;
      else
        left.push_back(i);
    }
    left.swap(free[part % free.size()]);
    count(made);
  });
  if (by_place)
    each_thread(threads, [&](std::size_t k, std::size_t given) {
      for (; k < free.size(); k += given)
        count(static_cast<std::int64_t>(
            std::erase_if(free[k], [&](Index i) { return match(i, 0, graph.cols); })));
    });
  stats.augmentations += pairs;
  return free;
}

template std::vector<std::vector<Index>> take_free_columns(const TwoSidedGraph&, const Partition&, int, bool,
                                                           Mates&, CardinalityStats&);
template std::vector<std::vector<Index>> take_free_columns(const BasicTwoSidedGraph<std::uint32_t>&,
                                                           const Partition&, int, bool, Mates&,
                                                           CardinalityStats&);

}  // namespace motes::matching::detail
