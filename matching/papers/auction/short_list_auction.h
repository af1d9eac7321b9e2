#pragma once
/// The sequential auction of a square problem on short lists that the caller makes: the host half of
/// `auction-scaled` on a GPU.
///
/// A GPU reads a full matrix quickly, but the end of an auction is a long chain of single bids, which a CPU
/// makes ten times faster from a list of 64 objects in its cache. So the GPU makes the lists, all at once,
/// and the CPU the bids. A person whose list no longer suffices waits until no other person can bid; then all
/// waiting persons get new lists at once.

#include "matching/papers/auction/auction_state.h"

namespace motes::matching::detail {

/// The maker of short lists.
class ListSource {
 public:
  virtual ~ListSource() = default;
  virtual int listed() const = 0;  ///< objects on a list
  /// Lists of these persons at these duals [objects], one after another: `object` and `cost` [persons *
  /// listed()], object -1 in empty places, cost in auction steps; `bound` [persons] is the least offer left
  /// out.
  virtual void make(std::span<const Index> persons, const std::vector<Cost>& dual, Index* object, Cost* cost,
                    Cost* bound) = 0;
};

/// For perfect problems without a warm start. Threads sort the lists. Stats as auction_on_cpu.
AuctionResult auction_on_lists(const Execution& execution, const CanonicalSides& sides,
                               const AuctionScale& scale, const AuctionOptions& options,
                               const AuctionStart& start, ListSource& source);

}  // namespace motes::matching::detail
