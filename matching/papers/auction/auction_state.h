#pragma once
/// Common parts of the CPU and the GPU auction, without the bidding rule: scale, schedule, budgets, the
/// starting state, and the exact integer duals at the end. Host code.

#include <cstdint>
#include <vector>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/papers/auction/bid_rule.h"

namespace motes::matching::detail {

struct AuctionOptions {
  bool scaled = true;   ///< epsilon falls from phase to phase; else one phase with the last epsilon
  bool reverse = true;  ///< columns left free below their starting price bid for rows; tests turn it off
};

struct AuctionScale {
  Cost steps = 1;      ///< auction steps in a cost step
  Cost widest = 2;     ///< more than any two offers differ by while all duals are at their start
  bool exact = false;  ///< steps are enough for an epsilon of one step to give an optimal matching
};
/// `steps` is max(rows, cols) + 2 if the costs leave room for it, else the largest possible number.
AuctionScale auction_scale(const CanonicalSides& sides);

inline constexpr Index kGapSample = 1024;           ///< rows whose two best offers are compared
inline constexpr Cost kLargestGap = Cost{1} << 50;  ///< differences count as no more than this

/// The epsilons of the phases in auction steps, falling, the last one 1. `gap`: the mean difference of a
/// row's two best offers. The first epsilon is the gap; it is divided by 6, then by 24, 96 ...: once epsilon
/// is small against the differences of offers, smaller steps no longer change the answer.
std::vector<Cost> auction_epsilons(const AuctionOptions& options, Cost gap);

/// The state an auction starts from, in auction steps: a given matching and given prices, or neither. Given
/// pairs may be forbidden or far from their best offer: the first phase gives them up.
struct AuctionStart {
  std::vector<Index> row_to_col, col_to_row;
  std::vector<Cost> v;
  std::int64_t pairs = 0;
  bool warm = false;
};
/// `given` is in the problem's own orientation.
AuctionStart auction_start(const CanonicalSides& sides, const AuctionScale& scale, const Start& given);

/// A best offer above this in the first phase proves that its row cannot be placed (auction.h); kNoOffer if
/// the bound is out of range.
Cost feasible_ceiling(const CanonicalSides& sides, const AuctionScale& scale, const AuctionStart& start,
                      Cost epsilon);

/// Rounds (GPU) and bids (CPU) after which the auction leaves the rest to shortest augmenting paths.
std::int64_t round_budget(const CanonicalSides& sides);
std::int64_t bid_budget(const CanonicalSides& sides);

/// The result of an auction: duals in auction steps that satisfy epsilon-complementary slackness with
/// epsilon 1.
struct AuctionResult {
  std::vector<Index> row_to_col;  ///< [rows]
  std::vector<Cost> u, v;         ///< [rows] (where reversed), [cols]
  bool reversed = false;          ///< columns bid last, so that v follows from u; else u from v
  bool unfinished = false;        ///< the budget or the range of duals ended it
  bool infeasible = false;
  Stats stats;
};

/// The start, in the problem's own orientation, for shortest augmenting paths, if they are needed.
struct AuctionLeftover {
  bool needed = false;
  std::vector<Index> row_to_col;
  std::vector<Cost> u, v;
};

/// Duals in cost steps that prove the matching exactly optimal; false if the scale is too coarse for that.
/// `pair_cost` [rows]: cost steps of matched pairs, where reversed. O(rows + cols + steps).
bool exact_duals(const CanonicalSides& sides, const AuctionScale& scale, const AuctionResult& result,
                 const std::vector<Cost>& pair_cost, std::vector<Cost>& v);

/// The result as a solution, with exact duals, or with `leftover` set.
Solution solution_of(const CanonicalSides& sides, const AuctionScale& scale, AuctionResult&& result,
                     const std::vector<Cost>& pair_cost, AuctionLeftover& leftover);

}  // namespace motes::matching::detail
