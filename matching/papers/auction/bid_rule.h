#pragma once
/// The rules of the auction for one person and one object, shared by CPU and GPU (see auction.h).
///
/// Persons bid for objects. In the forward direction rows are persons and columns are objects; in the
/// reverse direction columns bid for rows. All values are integers in auction steps (cost steps times the
/// scale). An object's dual is minus its price, so it only falls while persons bid.

#include <motes/base/host_device.h>
#include <motes/matching/problem.h>

namespace motes::matching::detail {

inline constexpr Cost kNoOffer = Cost{1} << 62;        ///< above every offer: no offer
inline constexpr Cost kLargestScaled = Cost{1} << 59;  ///< bound on |cost| in auction steps
inline constexpr Cost kLowestDual = -(Cost{1} << 61);  ///< a dual that falls below this ends the auction

/// The two least of some offers (cost minus the object's dual), and the object of the least. Ties go to the
/// lowest object, so that the order of add and merge does not matter.
struct Offers {
  Cost best = kNoOffer, second = kNoOffer;
  Cost cost = 0;      ///< of the pair behind `best`
  Index object = -1;  ///< of the offer `best`; -1: there is no offer

  MOTES_HOST_DEVICE void add(Index who, Cost pair_cost, Cost offer) {
    if (offer < best || (offer == best && who < object)) {
      second = best;
      best = offer;
      cost = pair_cost;
      object = who;
    } else if (offer < second) {
      second = offer;
    }
  }
  MOTES_HOST_DEVICE void merge(const Offers& other) {
    if (other.best < best || (other.best == best && other.object != -1 && other.object < object)) {
      second = best < other.second ? best : other.second;
      best = other.best;
      cost = other.cost;
      object = other.object;
    } else if (other.best < second) {
      second = other.best;
    }
  }
};

/// A person's decision in a round: to bid for an object, to leave through the exit for good, or none is
/// possible.
enum class Move { bid, leave, stuck };

struct Bid {
  Move move = Move::stuck;
  Index object = -1;
  Cost cost = 0;   ///< of the pair
  Cost dual = 0;   ///< the object's new dual, should the bid win
  Cost value = 0;  ///< the person's new dual, should the bid win or the person leave
};

/// The paper's eq. 10: the best object is bid down by best minus second best, and epsilon. The exit counts as
/// an offer. A person with a single object bids by `widest`, which exceeds the difference of any two offers.
MOTES_HOST_DEVICE inline Bid bid_of(const Offers& offers, Cost exit, Cost epsilon, Cost widest) {
  if (exit != kInfiniteCost && exit <= offers.best) return {Move::leave, -1, 0, 0, exit};
  if (offers.object == -1) return {};
  Cost second = exit < offers.second ? exit : offers.second;
  if (second >= kNoOffer) second = offers.best + widest;
  return {Move::bid, offers.object, offers.cost, offers.cost - second - epsilon, second};
}

/// The difference of a person's two best offers, -1 if there is none.
MOTES_HOST_DEVICE inline Cost gap_of(const Offers& offers, Cost exit) {
  const Cost second = exit < offers.second ? exit : offers.second;
  return offers.object == -1 || second >= kNoOffer || second < offers.best ? -1 : second - offers.best;
}

}  // namespace motes::matching::detail
