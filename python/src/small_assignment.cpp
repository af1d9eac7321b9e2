#include "python/src/small_assignment.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <motes/base/function_clones.h>
#include <motes/base/lanes.h>


namespace motes::python {
namespace {

/// The cost of a forbidden pair. Sums of at least kForbidden / 2 contain one, and no lower sum does: see
/// set_costs.
constexpr std::int64_t kForbidden = std::int64_t{1} << 61;
/// Added to the distance of settled columns, so that they are never the nearest.
constexpr std::int64_t kSettled = std::int64_t{1} << 62;
/// The most bits of a cost on the grid if all pairs are allowed.
constexpr int kCostBits = 56;
/// Added to the distance of matched columns, so that a free column wins a tie. Costs on the grid are even, so
/// this changes no other order.
constexpr std::int64_t kHeld = 1;

/// The first column with the least number; -1 if all numbers contain a forbidden pair.
class Nearest {
 public:
  /// Adds the numbers of the columns from j on.
  MOTES_INLINE void add(const Integers& numbers, std::int64_t j) {
    const Integers nearer = numbers < least_;
    least_ = nearer ? numbers : least_;
    col_ = nearer ? Integers{0, 1, 2, 3} + j : col_;
  }
  MOTES_INLINE Index col() const {
    const std::size_t a = before(1, 0) ? 1 : 0, b = before(3, 2) ? 3 : 2;
    return static_cast<Index>(col_[before(b, a) ? b : a]);
  }

 private:
  MOTES_INLINE bool before(std::size_t a, std::size_t b) const {
    return (least_[a] < least_[b]) | ((least_[a] == least_[b]) & (col_[a] < col_[b]));
  }
  Integers least_ = Integers{} + kForbidden / 2, col_ = Integers{} - 1;
};

/// Rounds 2 x scale to the nearest even integers; x scale must be below 2^57. Sets `rounded` to nonzero if
/// that changes a number. Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits; this is done
/// for upper and lower bits separately.
MOTES_INLINE void set_on_grid(const Doubles& x, double scale, Integers& grid, Integers& rounded) {
  constexpr double kRound = 6755399441055744.0;
  constexpr int kLowBits = 28;
  const Doubles whole = x * scale;
  const Doubles high = whole * (1.0 / (1 << kLowBits)) + kRound;
  const Doubles rest = whole - (high - kRound) * (1 << kLowBits);
  const Doubles low = rest + kRound;
  const Integers forbidden = x == std::numeric_limits<double>::infinity();
  rounded |= (low - kRound != rest) & ~forbidden;
  const Integers zero = reinterpret_cast<Integers>(Doubles{} + kRound);
  const Integers sum = ((reinterpret_cast<Integers>(high) - zero) << (kLowBits + 1)) +
                       ((reinterpret_cast<Integers>(low) - zero) << 1);
  grid = forbidden ? Integers{} + kForbidden : sum;
}

/// The number of the row's reduced costs c - v that are at most `limit`.
MOTES_INLINE std::int64_t count_light(const double* c, const double* v, std::size_t n, double limit) {
  std::int64_t count = 0;
  std::size_t j = 0;
  if (n >= kLanes) {
    Integers found{};
    for (; j + kLanes <= n; j += kLanes) found -= lanes<Doubles>(c + j) - lanes<Doubles>(v + j) <= limit;
    for (std::size_t k = 0; k < kLanes; ++k) count += found[k];
  }
  for (; j < n; ++j) count += c[j] - v[j] <= limit;
  return count;
}

}  // namespace

MOTES_INLINE void SmallAssignment::take(Index i, Index j) {
  row_to_col[at(i)] = j, col_to_row[at(j)] = i, held_[at(j)] = kHeld;
}

/// Sets the costs as even integers, in steps of 1 / scale_. If all pairs are allowed, a free column keeps its
/// initial price, so no price exceeds 3 times the largest cost in magnitude, and no distance 8 times. If some
/// pairs are forbidden, a path to a free column has up to `rows` pairs: (8 rows + 8) times.
MOTES_INLINE void SmallAssignment::set_costs(double largest, bool complete) {
  int exponent = 0;
  std::frexp(largest, &exponent);
  const int bits = complete ? kCostBits : kCostBits - std::bit_width(static_cast<std::uint32_t>(rows_) + 1);
  scale_ = std::ldexp(1.0, std::min(bits - exponent, 1000));
  width_ = (at(cols_) + kLanes - 1) / kLanes * kLanes;
  grid_.resize(at(rows_) * width_);
  Integers rounded{};
  for (Index i = 0; i < rows_; ++i) {
    const double* from = costs_row(i);
    std::int64_t* to = grid_.data() + at(i) * width_;
    std::size_t j = 0;
    for (; j + kLanes <= at(cols_); j += kLanes)
      set_on_grid(lanes<Doubles>(from + j), scale_, lanes<Integers>(to + j), rounded);
    if (j == at(cols_)) continue;
    Doubles rest = Doubles{} + std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; j + k < at(cols_); ++k) rest[k] = from[j + k];
    set_on_grid(rest, scale_, lanes<Integers>(to + j), rounded);
  }
  exact_ = !any(rounded);
}

/// Sets each column's price to its least cost.
MOTES_INLINE void SmallAssignment::reduce_columns() {
  price_.assign(row(0), row(0) + width_);
  std::int64_t* price = price_.data();
  for (Index i = 1; i < rows_; ++i)
    for (std::size_t j = 0; j < width_; j += kLanes) {
      const Integers here = lanes<Integers>(row(i) + j), before = lanes<Integers>(price + j);
      lanes<Integers>(price + j) = here < before ? here : before;
    }
  for (std::int64_t& p : price_) p = p < kForbidden ? p : 0;  // a column without a row
}

/// Each row takes a column of least reduced cost, if it is free.
MOTES_INLINE void SmallAssignment::take_least_offers() {
  for (Index i = 0; i < rows_; ++i) {
    const std::int64_t *c = row(i), *price = price_.data(), *held = held_.data();
    Nearest nearest;
    for (std::size_t j = 0; j < width_; j += kLanes)
      nearest.add(lanes<Integers>(c + j) - lanes<Integers>(price + j) + lanes<Integers>(held + j),
                  static_cast<std::int64_t>(j));
    const Index j = nearest.col();
    if (j >= 0 && col_to_row[at(j)] < 0)
      take(i, j);
    else
      free_.push_back(i);
  }
}

/// distance_ = min(distance_, c - price + offset), with `from` as the parent where it falls. Returns the
/// nearest column, or -1.
MOTES_INLINE Index SmallAssignment::relax(Index from, std::int64_t offset) {
  const std::int64_t *c = row(from), *price = price_.data(), *held = held_.data();
  std::int64_t *distance = distance_.data(), *parent = parent_.data();
  Nearest nearest;
  for (std::size_t j = 0; j < width_; j += kLanes) {
    const Integers there = lanes<Integers>(c + j) - lanes<Integers>(price + j) + offset;
    const Integers before = lanes<Integers>(distance + j);
    const Integers nearer = there < before;
    const Integers now = nearer ? there : before;
    lanes<Integers>(distance + j) = now;
    lanes<Integers>(parent + j) = nearer ? Integers{} + from : lanes<Integers>(parent + j);
    nearest.add(now + lanes<Integers>(held + j), static_cast<std::int64_t>(j));
  }
  return nearest.col();
}

/// Searches for a shortest path to a free column and applies it. False if there is none. Distances of settled
/// columns are final.
MOTES_INLINE bool SmallAssignment::augment(Index start) {
  distance_.assign(width_, kForbidden);
  settled_.clear();
  Index j = relax(start, 0);
  while (j >= 0 && col_to_row[at(j)] >= 0) {
    settled_.push_back(j);
    held_[at(j)] = kSettled;
    const Index i = col_to_row[at(j)];
    j = relax(i, distance_[at(j)] - (row(i)[j] - price_[at(j)]));
  }
  if (j < 0) return false;
  const std::int64_t length = distance_[at(j)];
  for (const Index k : settled_) price_[at(k)] += distance_[at(k)] - length, held_[at(k)] = kHeld;
  for (Index i = -1; i != start;) {
    i = static_cast<Index>(parent_[at(j)]);
    const Index before = row_to_col[at(i)];
    take(i, j);
    j = before;
  }
  return true;
}

MOTES_CLONES
bool SmallAssignment::solve(const double* costs, Index rows, Index cols, double largest, bool complete) {
  costs_ = costs, rows_ = rows, cols_ = cols;
  set_costs(largest, complete);
  row_to_col.assign(at(rows), -1);
  col_to_row.assign(at(cols), -1);
  held_.assign(width_, 0);
  parent_.resize(width_);
  free_.clear();
  if (rows_ == cols_)
    reduce_columns();
  else
    price_.assign(width_, 0);
  take_least_offers();
  for (const Index row : free_)
    if (!augment(row)) return false;
  return true;
}

/// Fills edges_. `deepest`: how far the lightest edge lies below 0.
MOTES_INLINE bool SmallAssignment::collect_light_edges(double limit, double& deepest) {
  edges_.clear();
  deepest = 0;
  const std::size_t most = 4 * at(cols_) + 16;  // more edges are due to ties, where cycles are likely
  for (Index i = 0; i < rows_; ++i) {
    const double* c = costs_row(i);
    const Index k = row_to_col[at(i)];
    const double held = c[k] - v[at(k)];
    std::int64_t left = count_light(c, v.data(), at(cols_), held + limit) - 1;
    for (Index j = 0; left > 0; ++j) {
      const double offer = c[j] - v[at(j)];
      if (j == k || !(offer <= held + limit)) continue;
      --left;
      deepest = std::max(deepest, held - offer);
      edges_.push_back({k, j});
    }
    if (edges_.size() > most) return false;
  }
  if (rows_ == cols_) return true;
  for (Index j = 0; j < cols_; ++j) {
    deepest = std::max(deepest, v[at(j)]);
    if (col_to_row[at(j)] < 0) {
      deepest = std::max(deepest, -v[at(j)]);
      edges_.push_back({j, cols_});
    } else if (-v[at(j)] <= limit) {
      edges_.push_back({cols_, j});
    }
  }
  return true;
}

/// Whether the edges form no cycle: removes nodes without incoming edges until none is left (Kahn 1962).
bool SmallAssignment::light_edges_have_no_cycle() {
  const std::size_t nodes = at(cols_) + 1;
  incoming_.assign(nodes, 0), first_.assign(nodes + 1, 0);
  for (const Edge& e : edges_) ++incoming_[at(e.to)], ++first_[at(e.from) + 1];
  for (std::size_t k = 0; k < nodes; ++k) first_[k + 1] += first_[k];
  targets_.resize(edges_.size());
  for (const Edge& e : edges_) targets_[at(--first_[at(e.from) + 1])] = e.to;
  order_.clear();
  for (std::size_t k = 0; k < nodes; ++k)
    if (incoming_[k] == 0) order_.push_back(static_cast<Index>(k));
  for (std::size_t done = 0; done < order_.size(); ++done) {
    const std::size_t k = at(order_[done]);
    const std::size_t begin = at(first_[k + 1]);
    const std::size_t end = k + 2 < first_.size() ? at(first_[k + 2]) : edges_.size();
    for (std::size_t e = begin; e < end; ++e)
      if (--incoming_[at(targets_[e])] == 0) order_.push_back(targets_[e]);
  }
  return order_.size() == nodes;
}

MOTES_CLONES
bool SmallAssignment::proves(double largest) {
  v.resize(at(cols_));
  for (std::size_t j = 0; j < v.size(); ++j) v[j] = static_cast<double>(price_[j]) / (2 * scale_);
  double scale = largest;
  for (const double price : v) scale = std::max(scale, std::abs(price));
  // Three subtractions of numbers up to 2 scale, and the limit's own sum.
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * scale;
  const double steps = static_cast<double>(cols_) + 2;
  const double limit = 16 * steps * rounding;
  double deepest = 0;
  if (!std::isfinite(limit) || limit < std::numeric_limits<double>::min()) return false;
  if (!collect_light_edges(limit, deepest)) return false;
  return limit - rounding > steps * (deepest + rounding) && light_edges_have_no_cycle();
}

}  // namespace motes::python
