#pragma once
/// Finds pairs outside a core: those that violate its duals, and ways out for rows that are trapped in it.

#include <span>
#include <vector>

#include "matching/assignment/core/pricing.h"

namespace motes::matching::detail {

/// The most pairs that a row gains in a round.
inline constexpr std::size_t kAddedPerRow = 32;

/// [rows] pairs of each, by rising column.
using PairsOfRows = std::vector<std::vector<CorePair>>;

template <class Entries>
class PairFinder {
 public:
  /// `first_row`: number of the first row here among all rows.
  PairFinder(int threads, const Entries& entries, Index first_row)
      : threads_(threads), entries_(entries), first_row_(first_row), pricer_(entries) {}

  /// Starts with a new core. `v_falls`: columns' duals will only fall, so a row once proven stays proven for
  /// every lower dual u_i.
  void begin(bool v_falls);

  /// The pairs with c_ij < u_i + v_j of rows that neither the selection's bounds nor earlier scans prove, at
  /// most kAddedPerRow a row, the worst first. True if there are any. O(cols log cols), and cols for each row
  /// that is not proven.
  bool price(const CoreSelection& selection, std::span<const Cost> u, const std::vector<Cost>& v,
             PairsOfRows& found);

  /// The best `count` pairs of these rows, numbered from here, with columns that the search did not reach.
  /// False if there are none in the whole matrix.
  bool ways_out(std::span<const Index> trapped, const std::vector<char>& reached, const std::vector<Cost>& v,
                std::size_t count, PairsOfRows& found);

 private:
  void keep_best(std::vector<CorePair>& pairs, std::size_t count, Index row,
                 const std::vector<Cost>& v) const;

  int threads_;
  const Entries& entries_;
  Index first_row_;
  RowPricer<Entries> pricer_;
  std::vector<Cost> proven_;  ///< [rows] c_ij >= proven_i + v_j outside the core; or empty if v may rise
};

}  // namespace motes::matching::detail
