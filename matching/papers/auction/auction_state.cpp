/// Scaling, schedules, and the rounding of duals (auction.h has the proof).

#include "matching/papers/auction/auction_state.h"

#include <algorithm>
#include <cstddef>

#include <motes/base/index.h>

namespace motes::matching::detail {
namespace {

Cost floor_div(Cost a, Cost b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace

AuctionScale auction_scale(const CanonicalSides& sides) {
  Cost largest = std::max<Cost>(1, sides.largest);
  for (const Cost c : sides.start) largest = std::max(largest, c < 0 ? -c : c);
  AuctionScale scale;
  const Cost wanted = Cost{std::max(sides.rows, sides.cols)} + 2;
  scale.steps = std::max<Cost>(1, std::min(wanted, kLargestScaled / largest));
  scale.exact = scale.steps == wanted;
  scale.widest = 2 * largest * scale.steps + 2;
  return scale;
}

std::vector<Cost> auction_epsilons(const AuctionOptions& options, Cost gap) {
  std::vector<Cost> out;
  Cost epsilon = options.scaled ? gap : 1;
  for (Cost divisor = 6; epsilon > 1; epsilon /= divisor, divisor *= 4) out.push_back(epsilon);
  out.push_back(1);
  return out;
}

AuctionStart auction_start(const CanonicalSides& sides, const AuctionScale& scale, const Start& given) {
  AuctionStart start;
  start.v = sides.start;
  start.row_to_col.assign(at(sides.rows), -1);
  start.col_to_row.assign(at(sides.cols), -1);
  const std::span<const Cost> v = sides.exchanged ? given.u : given.v;
  start.warm = !given.row_to_col.empty() || !v.empty();
  for (std::size_t k = 0; k < given.row_to_col.size(); ++k) {
    if (given.row_to_col[k] == -1) continue;
    const Index here = static_cast<Index>(k), there = given.row_to_col[k];
    const Index i = sides.exchanged ? there : here, j = sides.exchanged ? here : there;
    start.row_to_col[at(i)] = j;
    start.col_to_row[at(j)] = i;
    ++start.pairs;
  }
  const Cost limit = -kLowestDual / 4 / scale.steps;  // far outside any optimum's range
  for (std::size_t j = 0; j < v.size(); ++j) {
    const Cost wanted = std::clamp(v[j], -limit, limit);
    if (sides.perfect || wanted < start.v[j]) start.v[j] = wanted;
  }
  for (Cost& dual : start.v) dual *= scale.steps;
  return start;
}

Cost feasible_ceiling(const CanonicalSides& sides, const AuctionScale& scale, const AuctionStart& start,
                      Cost epsilon) {
  Cost deepest = 0;
  for (const Cost v : start.v) deepest = std::max(deepest, -v);
  const double length = static_cast<double>(std::min(sides.rows, sides.cols)) + 1;
  const double bound = length * (static_cast<double>(scale.widest) + static_cast<double>(epsilon)) +
                       static_cast<double>(deepest);
  // The margin of a thousandth covers rounding; a larger bound is still a proof.
  return bound * 1.001 < static_cast<double>(-kLowestDual) ? static_cast<Cost>(bound * 1.001) + 1 : kNoOffer;
}

std::int64_t round_budget(const CanonicalSides& sides) { return 5000 + 100 * std::int64_t{sides.rows}; }
std::int64_t bid_budget(const CanonicalSides& sides) { return 500 + 200 * std::int64_t{sides.rows}; }

bool exact_duals(const CanonicalSides& sides, const AuctionScale& scale, const AuctionResult& result,
                 const std::vector<Cost>& pair_cost, std::vector<Cost>& v) {
  // By the proof in auction.h, a shift is valid if its negative is not a matched object's dual modulo the
  // scale.
  const Cost steps = scale.steps;
  std::vector<bool> taken(static_cast<std::size_t>(steps), false);
  taken[0] = true;  // by free objects
  const auto remainder = [&](Cost dual) { return dual - floor_div(dual, steps) * steps; };
  for (Index i = 0; i < sides.rows; ++i) {
    const Index j = result.row_to_col[at(i)];
    if (j == -1) continue;
    const Cost r = remainder(result.reversed ? result.u[at(i)] : result.v[at(j)]);
    taken[static_cast<std::size_t>((steps - r) % steps)] = true;
  }
  const Cost shift = std::find(taken.begin(), taken.end(), false) - taken.begin();
  if (shift == steps) return false;
  v = sides.start;
  for (Index i = 0; i < sides.rows; ++i) {
    const Index j = result.row_to_col[at(i)];
    if (j == -1) continue;
    v[at(j)] = result.reversed ? pair_cost[at(i)] - floor_div(result.u[at(i)] + shift, steps)
                               : floor_div(result.v[at(j)] + shift, steps);
  }
  return true;
}

Solution solution_of(const CanonicalSides& sides, const AuctionScale& scale, AuctionResult&& result,
                     const std::vector<Cost>& pair_cost, AuctionLeftover& leftover) {
  Solution out;
  out.infeasible = result.infeasible;
  if (!result.infeasible && (result.unfinished || !exact_duals(sides, scale, result, pair_cost, out.v))) {
    leftover.needed = true;
    std::vector<Cost> v = std::move(result.v);
    for (Cost& dual : v) dual = floor_div(dual, scale.steps);
    if (sides.exchanged) {
      leftover.row_to_col.assign(at(sides.cols), -1);
      for (Index i = 0; i < sides.rows; ++i)
        if (result.row_to_col[at(i)] != -1) leftover.row_to_col[at(result.row_to_col[at(i)])] = i;
      leftover.u = std::move(v);
    } else {
      leftover.row_to_col = result.row_to_col;
      leftover.v = std::move(v);
    }
  }
  if (out.v.empty()) out.v = sides.start;
  out.row_to_col = std::move(result.row_to_col);
  out.stats = std::move(result.stats);
  return out;
}

}  // namespace motes::matching::detail
