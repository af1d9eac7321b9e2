#include "python/src/small_assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/base/function_clones.h>

namespace motes::python {
namespace {

constexpr Index kFewColumns = 32;
constexpr double kFar = std::numeric_limits<double>::infinity();

// Minima of doubles that the compiler may not reorder itself. Inlined into the clones of solve and proves, so
// that one choice of instructions is made a call.
#define MOTES_INLINE inline __attribute__((always_inline))
constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
using Integers = std::int64_t __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));

template <class Vector, class T>
MOTES_INLINE Vector& lanes(T* at) {
  return *reinterpret_cast<Vector*>(at);
}
template <class Vector, class T>
MOTES_INLINE const Vector& lanes(const T* at) {
  return *reinterpret_cast<const Vector*>(at);
}

MOTES_INLINE double least_of_lanes(const Doubles& x) {
  double least = x[0];
  for (std::size_t k = 1; k < kLanes; ++k) least = x[k] < least ? x[k] : least;
  return least;
}

MOTES_INLINE double least_of(const double* c, std::size_t n) {
  double least = kFar;
  std::size_t j = 0;
  if (n >= kLanes) {
    Doubles some = lanes<Doubles>(c);
    for (j = kLanes; j + kLanes <= n; j += kLanes) {
      const Doubles here = lanes<Doubles>(c + j);
      some = here < some ? here : some;
    }
    least = least_of_lanes(some);
  }
  for (; j < n; ++j) least = c[j] < least ? c[j] : least;
  return least;
}

/// v = min(v, c).
MOTES_INLINE void lower(const double* c, std::size_t n, double* v) {
  std::size_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    const Doubles here = lanes<Doubles>(c + j), before = lanes<Doubles>(v + j);
    lanes<Doubles>(v + j) = here < before ? here : before;
  }
  for (; j < n; ++j) v[j] = c[j] < v[j] ? c[j] : v[j];
}

/// The row's least offer c - v, and the least of the others.
struct Offers {
  double first = kFar, second = kFar;
  MOTES_INLINE void add(double offer) {
    const double larger = offer > first ? offer : first;
    first = offer < first ? offer : first;
    second = larger < second ? larger : second;
  }
};

MOTES_INLINE Offers two_least(const double* c, const double* v, std::size_t n) {
  Offers out;
  std::size_t j = 0;
  if (n >= 2 * kLanes) {
    Doubles first = lanes<Doubles>(c) - lanes<Doubles>(v), second = first - first + kFar;
    for (j = kLanes; j + kLanes <= n; j += kLanes) {
      const Doubles offer = lanes<Doubles>(c + j) - lanes<Doubles>(v + j);
      const Doubles larger = offer > first ? offer : first;
      first = offer < first ? offer : first;
      second = larger < second ? larger : second;
    }
    for (std::size_t k = 0; k < kLanes; ++k) out.add(first[k]), out.add(second[k]);
  }
  for (; j < n; ++j) out.add(c[j] - v[j]);
  return out;
}

/// distance = min(distance, c - price + offset), with the row it came by; returns the least distance.
MOTES_INLINE double relax(const double* c, const double* price, double offset, std::int64_t row,
                          std::size_t n, double* distance, std::int64_t* parent) {
  double least = kFar;
  std::size_t j = 0;
  if (n >= kLanes) {
    Doubles some = lanes<Doubles>(distance);
    for (; j + kLanes <= n; j += kLanes) {
      const Doubles there = lanes<Doubles>(c + j) - lanes<Doubles>(price + j) + offset;
      const Doubles before = lanes<Doubles>(distance + j);
      const Integers nearer = there < before;
      const Doubles now = nearer ? there : before;
      lanes<Doubles>(distance + j) = now;
      lanes<Integers>(parent + j) = (nearer & row) | (~nearer & lanes<Integers>(parent + j));
      some = now < some ? now : some;
    }
    least = least_of_lanes(some);
  }
  for (; j < n; ++j) {
    const double there = c[j] - price[j] + offset;
    if (there < distance[j]) distance[j] = there, parent[j] = row;
    least = distance[j] < least ? distance[j] : least;
  }
  return least;
}

/// How many offers of the row are at most `limit`.
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

/// Prices are the columns' least costs, and each row takes a column of its least offer. Only of as many
/// columns as rows: free ones have the price 0.
MOTES_INLINE void SmallAssignment::reduce_columns() {
  v.assign(row(0), row(0) + cols_);
  for (Index i = 1; i < rows_; ++i) lower(row(i), at(cols_), v.data());
  for (double& price : v) price = price < kFar ? price : 0;  // a column without a row
  for (Index i = 0; i < rows_; ++i) {
    const double* c = row(i);
    const double reach = two_least(c, v.data(), at(cols_)).first + tolerance_;
    Index j = 0;
    while (j < cols_ && !(c[j] - v[at(j)] <= reach && col_to_row[at(j)] < 0)) ++j;
    if (j < cols_ && reach < kFar)
      take(i, j);
    else
      free_.push_back(i);
  }
}

MOTES_INLINE void SmallAssignment::reduce_rows() {
  for (Index i = 0; i < rows_; ++i) {
    const double* c = row(i);
    const double least = least_of(c, at(cols_));
    Index j = 0;
    while (j < cols_ && !(c[j] == least && col_to_row[at(j)] < 0)) ++j;
    if (j < cols_ && least < kFar)
      take(i, j);
    else
      free_.push_back(i);
  }
}

/// Each free row takes its best column, whose price falls to that of the second best.
MOTES_INLINE void SmallAssignment::reduce_free_rows() {
  later_.clear();
  std::size_t steps = 0;
  // Of few columns a search costs no more than some steps here.
  const std::size_t most = cols_ < kFewColumns ? free_.size() + 2 : 4 * free_.size() + 16;
  for (std::size_t k = 0; k < free_.size(); ++k) {
    Index i = free_[k];
    while (i >= 0) {
      const double* c = row(i);
      const Offers offers = two_least(c, v.data(), at(cols_));
      if (!(offers.second < kFar) || ++steps > most) {
        later_.push_back(i);
        break;
      }
      const bool falls = offers.first < offers.second;
      Index best = 0;  // of several a free one
      while (c[best] - v[at(best)] != offers.first) ++best;
      if (!falls) {
        Index j = best;
        while (j < cols_ && !(c[j] - v[at(j)] == offers.first && col_to_row[at(j)] < 0)) ++j;
        if (j < cols_) best = j;
      }
      const Index owner = col_to_row[at(best)];
      if (owner >= 0 && !falls) {
        later_.push_back(i);
        break;
      }
      if (owner >= 0) v[at(best)] -= offers.second - offers.first;
      take(i, best);
      if (owner >= 0) row_to_col[at(owner)] = -1;
      i = owner;
    }
  }
  free_.swap(later_);
}

/// A free column among those at most `tolerance_` farther than the least distance, or the first at that.
MOTES_INLINE Index SmallAssignment::nearest(double least) const {
  const double reach = least + tolerance_;
  const double* open = open_.data();
  Index any = -1, j = 0;
  const auto is_end = [&](Index k) {
    if (!(open[k] <= reach)) return false;
    if (any < 0 && open[k] == least) any = k;
    return col_to_row[at(k)] < 0;
  };
  constexpr auto kStep = static_cast<Index>(kLanes);
  for (; j + kStep <= cols_; j += kStep) {
    const Integers near = lanes<Doubles>(open + j) <= reach;
    if ((near[0] | near[1] | near[2] | near[3]) == 0) continue;
    for (Index k = j; k < j + kStep; ++k)
      if (is_end(k)) return k;
  }
  for (; j < cols_; ++j)
    if (is_end(j)) return j;
  return any;
}

MOTES_INLINE bool SmallAssignment::augment(Index start) {
  const std::size_t n = at(cols_);
  open_.assign(n, kFar), distance_.resize(n), parent_.resize(n);
  price_.assign(v.begin(), v.end());
  settled_.clear();
  double least = relax(row(start), price_.data(), 0, start, n, open_.data(), parent_.data());
  Index end = -1;
  while (least < kFar) {
    const Index j = nearest(least), i = col_to_row[at(j)];
    if (i < 0) {
      end = j, least = open_[at(j)];
      break;
    }
    settled_.push_back(j);
    distance_[at(j)] = least, open_[at(j)] = kFar, price_[at(j)] = -kFar;
    const double* c = row(i);
    least = relax(c, price_.data(), least - (c[j] - v[at(j)]), i, n, open_.data(), parent_.data());
  }
  if (end < 0) return false;
  for (const Index j : settled_) v[at(j)] += distance_[at(j)] - least;
  for (Index j = end, i = -1; i != start;) {
    i = static_cast<Index>(parent_[at(j)]);
    const Index before = row_to_col[at(i)];
    take(i, j);
    j = before;
  }
  return true;
}

MOTES_CLONES
bool SmallAssignment::solve(const double* costs, Index rows, Index cols, double tolerance) {
  costs_ = costs, rows_ = rows, cols_ = cols, tolerance_ = tolerance;
  row_to_col.assign(at(rows), -1);
  col_to_row.assign(at(cols), -1);
  v.assign(at(cols), 0);
  free_.clear();
  if (rows_ == cols_ && cols_ >= kFewColumns)
    reduce_columns();
  else
    reduce_rows();
  for (int sweep = 0; sweep < 2 && !free_.empty(); ++sweep) reduce_free_rows();
  for (const Index row : free_)
    if (!augment(row)) return false;
  return true;
}

/// Fills edges_; `deepest`: how far the lightest one lies below 0.
MOTES_INLINE bool SmallAssignment::collect_light_edges(double limit, double& deepest) {
  edges_.clear();
  deepest = 0;
  const std::size_t most = 4 * at(cols_) + 16;  // ties: cycles are likely
  for (Index i = 0; i < rows_; ++i) {
    const double* c = row(i);
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

/// Takes away nodes that no edge comes to, until none are left (Kahn 1962).
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
