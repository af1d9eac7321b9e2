#pragma once
/// Shortest augmenting paths on a core, the few edges of a matrix that matter: how `jv` solves large dense
/// and geometric problems.

#include <optional>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/pair_finder.h"
#include "matching/assignment/core/selection.h"

namespace motes::matching::detail {

/// The number of pairs of each row and of each column in the first core.
struct CoreSize {
  Offset of_rows = 64;
  Index of_columns = 0;
};
/// The usual size for a kind of problem.
template <class Entries>
CoreSize core_size(const CanonicalSides& sides);

/// Queries about the pairs outside the core, which may be on other ranks.
class OutsidePairs {
 public:
  virtual ~OutsidePairs() = default;
  /// As in PairFinder; rows have global numbers.
  virtual void begin(bool v_falls) = 0;
  virtual bool price(const CoreSelection& selection, const std::vector<Cost>& u, const std::vector<Cost>& v,
                     PairsOfRows& found) = 0;
  virtual bool ways_out(const std::vector<Index>& trapped, const std::vector<char>& reached,
                        const std::vector<Cost>& v, std::size_t count, PairsOfRows& found) = 0;
  /// Whether the pairs are those of a matrix.
  virtual bool of_matrix() const = 0;
  /// Matrices: a core chosen by annealed prices (annealed_prices.h), instead of those of the selection.
  virtual void anneal(CoreSelection& selection) = 0;
  /// The solution without a core, from scratch; none if that would take long, or is not tried.
  virtual std::optional<Solution> try_whole() { return std::nullopt; }
  /// Solves without a core, from these prices (empty: from scratch).
  virtual Solution solve_whole(const std::vector<Cost>& v) = 0;
};

/// Exact. Rounds of a sparse solve on the selection's core and a check of the rows that the core's bounds do
/// not already prove (see core_solver.cpp). `sides` and the core are those of all rows.
Solution solve_on_core(const Execution& execution, const CanonicalSides& sides, const Start& start,
                       CoreSelection&& selection, OutsidePairs& outside);

/// The same without ranks, from a core of select_core. Memory O(rows + cols + core). Falls back to
/// solve_by_dense_paths if the core exceeds a quarter of the matrix or, for square matrices, if neither the
/// selection's prices nor annealed ones (annealed_prices.h) lead to a solution within the budget. Stats:
/// those of the sparse solves, summed, but phases = rounds of solving and checking; seconds: solve, pricing.
template <class Entries>
Solution solve_by_core_paths(const Execution& execution, const Canonical<Entries>& problem,
                             const Start& start, CoreSelection&& selection);

}  // namespace motes::matching::detail
