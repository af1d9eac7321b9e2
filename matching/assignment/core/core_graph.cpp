/// Builds the graph of a core from the pairs that threads selected, and merges pairs into it.

#include "matching/assignment/core/core_graph.h"

#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

namespace motes::matching::detail {

void unite(int threads, Index rows_per_task, std::vector<CorePart>& parts, SparseCosts& core) {
  auto& offsets = core.graph.row_offsets;
  offsets.reserve(at(core.graph.rows) + 1);
  for (const CorePart& part : parts)
    for (const Index n : part.count) offsets.push_back(offsets.back() + n);
  core.graph.col_index.resize(at(offsets.back()));
  core.cost.resize(at(offsets.back()));
  parallel_for(threads, static_cast<std::int64_t>(parts.size()), [&](std::int64_t task) {
    std::size_t place = at(offsets[at(task) * at(rows_per_task)]);
    for (const CorePair& pair : parts[at(task)].pairs) {
      core.graph.col_index[place] = pair.col;
      core.cost[place++] = pair.cost;
    }
    parts[at(task)] = {};
  });
}

void add_pairs(SparseCosts& core, const std::vector<std::vector<CorePair>>& added) {
  SparseCosts out;
  out.graph.rows = core.graph.rows;
  out.graph.cols = core.graph.cols;
  std::size_t edges = core.cost.size();
  for (const auto& pairs : added) edges += pairs.size();
  out.graph.col_index.reserve(edges);
  out.cost.reserve(edges);
  for (Index i = 0; i < core.graph.rows; ++i) {
    auto next = added[at(i)].begin();
    const auto put = [&](Index col, Cost cost) {
      out.graph.col_index.push_back(col);
      out.cost.push_back(cost);
    };
    for (Offset e = core.graph.row_offsets[at(i)]; e < core.graph.row_offsets[at(i) + 1]; ++e) {
      for (; next != added[at(i)].end() && next->col < core.graph.col_index[at(e)]; ++next)
        put(next->col, next->cost);
      put(core.graph.col_index[at(e)], core.cost[at(e)]);
    }
    for (; next != added[at(i)].end(); ++next) put(next->col, next->cost);
    out.graph.row_offsets.push_back(out.graph.edges());
  }
  core = std::move(out);
}

}  // namespace motes::matching::detail
