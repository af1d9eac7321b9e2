#include "matching/ties.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "matching/assignment/jonker_volgenant.h"
#include "matching/detail/entries.h"

namespace motes::matching {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// splitmix64's finaliser (Steele, Lea & Flood 2014) of both indices; -1 stands for "free".
std::uint64_t pair_hash(Index i, Index j) {
  std::uint64_t x =
      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i)) << 32) | static_cast<std::uint32_t>(j);
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Matching resolve_ties(const Execution& execution, const CostsView& problem, const Matching& optimal) {
  const Index rows = rows_of(problem), cols = cols_of(problem);
  const auto& [u, v] = optimal.duals;
  if (optimal.status != Status::optimal || u.size() != at(rows) || v.size() != at(cols))
    throw std::invalid_argument("resolve_ties: needs an optimal matching with its duals");
  int bits = 40;
  while (bits > 1 && (Offset{2} * (Offset{rows} + cols + 2)) > (Offset{1} << (58 - bits))) --bits;
  const auto hash = [&](Index i, Index j) { return static_cast<Cost>(pair_hash(i, j) >> (64 - bits)); };

  SparseCosts tight;
  tight.graph.rows = rows;
  tight.graph.cols = cols;
  detail::with_entries(problem, [&](const auto& entries) {
    for (Index i = 0; i < rows; ++i) {
      entries.for_each(i, 0, 1, [&](Index j, Cost c) {
        if (c - u[at(i)] != v[at(j)]) return;
        tight.graph.col_index.push_back(j);
        tight.cost.push_back(hash(i, j));
      });
      tight.graph.row_offsets.push_back(tight.graph.edges());
    }
  });
  const auto free_costs = [&](std::span<const Cost> unmatched, std::span<const Cost> dual, bool of_rows) {
    std::vector<Cost> out(dual.size(), kInfiniteCost);
    for (std::size_t k = 0; k < unmatched.size(); ++k)
      if (unmatched[k] != kInfiniteCost && unmatched[k] == dual[k])
        out[k] = of_rows ? hash(static_cast<Index>(k), -1) : hash(-1, static_cast<Index>(k));
    return out;
  };
  tight.unmatched_row_cost = free_costs(unmatched_row_cost_of(problem), u, true);
  tight.unmatched_col_cost = free_costs(unmatched_col_cost_of(problem), v, false);

  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  const auto start = std::chrono::steady_clock::now();
  Matching least = JonkerVolgenant().solve(on_cpu, tight.view(), {optimal.row_to_col, {}, {}});
  if (least.status != Status::optimal)
    throw std::invalid_argument("resolve_ties: the matching given is not optimal for its duals");
  Matching out = optimal;
  out.row_to_col = std::move(least.row_to_col);
  out.col_to_row = std::move(least.col_to_row);
  out.cardinality = least.cardinality;
  out.stats.seconds["ties"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace motes::matching
