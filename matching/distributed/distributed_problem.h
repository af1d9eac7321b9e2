#pragma once
/// A rank's part of a problem, as entries of the canonical form.

#include <motes/matching/distributed.h>

#include "matching/assignment/canonical/canonical_form.h"

namespace motes::matching::detail {

/// The problem without its pairs: only sizes and unmatched costs.
inline CostsView outline_of(const DistributedCosts& problem) {
  return SparseCostsView{
      {problem.rows, problem.cols, {}, {}}, {},          problem.unmatched_row_cost,
      problem.unmatched_col_cost,           Space::host, fraction_bits_of(view_of(problem.part))};
}

/// split_of where only the outline is known.
Split split_for(std::string_view solver, const CostsView& outline);

/// Throws std::invalid_argument if the costs are a graph's, which `jv` does not take on ranks.
void refuse_graph_on_ranks(const CostsView& problem);

/// Entries that count from `first`: these rows, and all columns, or the other way round.
template <class Entries>
Entries sliced(const Entries& e, Split split, const Block& mine) {
  if constexpr (std::is_same_v<Entries, GeometricEntries>)  // sparse and dense parts are cut already
    return split == Split::rows ? block_of_rows(e, mine.first, mine.count)
                                : exchanged(block_of_rows(exchanged(e), mine.first, mine.count));
  else
    return e;
}

/// Calls f(entries) with this rank's part in the problem's own orientation.
template <class F>
auto with_part(const DistributedCosts& problem, F&& f) {
  return with_entries(view_of(problem.part),
                      [&](const auto& whole) { return f(sliced(whole, problem.split, problem.mine)); });
}

/// The same in the orientation of the canonical form, which may exchange rows and columns.
template <class F>
auto with_canonical_part(const DistributedCosts& problem, bool exchange, F&& f) {
  if (!exchange) return with_part(problem, f);
  if (const auto* sparse = std::get_if<SparseCosts>(&problem.part)) {
    const SparseCosts other = transpose(sparse->view());
    return with_entries(other.view(), [&](const auto& entries) { return f(entries); });
  }
  return with_part(problem, [&](const auto& entries) {
    if constexpr (std::is_same_v<std::decay_t<decltype(entries)>, SparseEntries>)
      return f(entries);  // was handled above
    else
      return f(exchanged(entries));
  });
}

}  // namespace motes::matching::detail
