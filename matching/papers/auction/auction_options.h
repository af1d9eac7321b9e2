#pragma once
/// Both auctions with their internal options, for tests.

#include "matching/papers/auction/auction_state.h"

namespace motes::matching::detail {

Matching solve_by_auction(const Execution& execution, const CostsView& problem, const Start& start,
                          const AuctionOptions& options);

}  // namespace motes::matching::detail
