#pragma once
/// The CUDA form of the auctions in auction.h, without CUDA types.

#include <functional>

#include "matching/papers/auction/auction_state.h"

namespace motes::matching::detail {

/// The auction on a CUDA device, for problems in either space. Where `leftover.needed` is set, the answer
/// holds nothing but stats.
Matching auction_on_device(const Execution& execution, const CostsView& problem, const Start& start,
                           const AuctionOptions& options, AuctionLeftover& leftover);

/// Calls f(view) with a copy of a device problem in host memory.
Matching with_host_copy(const CostsView& problem, const std::function<Matching(const CostsView&)>& f);

}  // namespace motes::matching::detail
