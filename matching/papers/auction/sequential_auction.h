#pragma once
/// The sequential form of the auctions in auction.h.

#include "matching/papers/auction/auction_state.h"

namespace motes::matching::detail {

/// Exact, or unfinished. `pair_cost` [rows]: cost steps of matched pairs, where columns bid last. Stats:
/// phases, rounds and augmentations (bids), initial_assignments (pairs given).
template <class Entries>
AuctionResult auction_on_cpu(const Canonical<Entries>& problem, const AuctionScale& scale,
                             const AuctionOptions& options, AuctionStart&& start,
                             std::vector<Cost>& pair_cost);

}  // namespace motes::matching::detail
