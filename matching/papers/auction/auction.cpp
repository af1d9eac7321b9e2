/// The two auctions as solvers: which form runs on which problem and back end.

#include "matching/papers/auction/auction.h"

#include <motes/base/timer.h>

#include "matching/assignment/dense/dense_augmenting_paths.h"
#include "matching/assignment/sparse/sparse_augmenting_paths.h"
#include "matching/papers/auction/auction_options.h"
#include "matching/papers/auction/device_auction.h"
#include "matching/papers/auction/sequential_auction.h"

namespace motes::matching {
namespace detail {
namespace {

Matching on_cpu(const Execution& execution, const CostsView& problem, const Start& start,
                const AuctionOptions& options, AuctionLeftover& leftover) {
  return solve_canonical(execution, problem, [&]<class Entries>(const Canonical<Entries>& canonical) {
    const auto begin = std::chrono::steady_clock::now();
    const AuctionScale scale = auction_scale(canonical);
    std::vector<Cost> pair_cost;
    AuctionResult result =
        auction_on_cpu(canonical, scale, options, auction_start(canonical, scale, start), pair_cost);
    Solution solution = solution_of(canonical, scale, std::move(result), pair_cost, leftover);
    solution.stats.seconds["auction"] = seconds_since(begin);
    return solution;
  });
}

Matching by_paths(const Execution& execution, const CostsView& problem, const AuctionLeftover& leftover) {
  const Start start{leftover.row_to_col, leftover.u, leftover.v};
  return solve_canonical(execution, problem, [&]<class Entries>(const Canonical<Entries>& canonical) {
    if constexpr (std::is_same_v<Entries, SparseEntries>)
      return solve_by_sparse_paths(execution, canonical, start);
    else
      return solve_by_dense_paths(canonical, start);
  });
}

}  // namespace

Matching solve_by_auction(const Execution& execution, const CostsView& problem, const Start& start,
                          const AuctionOptions& options) {
  AuctionLeftover leftover;
  Matching out;
  if (execution.backend == Backend::cuda) {
    out = auction_on_device(execution, problem, start, options, leftover);
  } else {
    require_cpu(execution, problem, "auction");
    out = on_cpu(execution, problem, start, options, leftover);
  }
  if (!leftover.needed) return out;
  const auto begin = std::chrono::steady_clock::now();
  Stats stats = std::move(out.stats);
  const auto finish = [&](const CostsView& host) { return by_paths(execution, host, leftover); };
  out = space_of(problem) == Space::host ? finish(problem) : with_host_copy(problem, finish);
  stats.seconds["paths"] = seconds_since(begin);
  stats.components = out.stats.components;
  stats.largest_component = out.stats.largest_component;
  out.stats = std::move(stats);
  return out;
}

}  // namespace detail

Matching Auction::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  return detail::solve_by_auction(execution, problem, start, {.scaled = false});
}
Matching AuctionScaled::run(const Execution& execution, const CostsView& problem, const Start& start) const {
  return detail::solve_by_auction(execution, problem, start, {.scaled = true});
}

}  // namespace motes::matching
