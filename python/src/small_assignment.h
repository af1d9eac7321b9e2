#pragma once
/// Assignment of small dense matrices by shortest augmenting paths, without anything that costs before the
/// first row is looked at.
///
/// Source: Jonker & Volgenant, "A shortest augmenting path algorithm for dense and sparse linear assignment
/// problems", Computing 38 (1987): reduction of rows, augmenting row reduction twice, then Dijkstra's
/// algorithm from each row that is still free. Of equal columns a free one is taken, and of these the first.

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include <motes/base/index.h>

namespace motes::python {

/// What a forbidden pair costs, and from what on a path is none.
template <class T>
struct Forbidden {
  static constexpr T kCost = std::numeric_limits<T>::infinity();
  static constexpr T kNoPath = kCost;
};
template <>
struct Forbidden<std::int64_t> {
  static constexpr std::int64_t kCost = std::int64_t{1} << 61, kNoPath = std::int64_t{1} << 60;
};

template <class T>
class SmallAssignment {
 public:
  /// Row-major, rows <= cols; finite integer costs within +-2^59 / (rows + cols). False where no assignment
  /// of all rows exists.
  bool solve(const T* costs, Index rows, Index cols) {
    costs_ = costs, rows_ = rows, cols_ = cols;
    row_to_col.assign(at(rows), -1);
    col_to_row.assign(at(cols), -1);
    v.assign(at(cols), T{0});
    free_.clear();
    reduce_rows();
    for (int sweep = 0; sweep < 2 && !free_.empty(); ++sweep) reduce_free_rows();
    for (const Index row : free_)
      if (!prices_hold() || !augment(row)) return false;
    return prices_hold();
  }
  std::vector<Index> row_to_col, col_to_row;
  std::vector<T> v;  ///< optimal prices of the columns (exact for integers)

 private:
  const T* row(Index i) const { return costs_ + at(i) * at(cols_); }

  /// No sum of a cost and a few prices overflows.
  bool prices_hold() const {
    if constexpr (std::is_integral_v<T>)
      return *std::min_element(v.begin(), v.end()) > -Forbidden<T>::kNoPath;
    return true;
  }
  void take(Index i, Index j) { row_to_col[at(i)] = j, col_to_row[at(j)] = i; }

  void reduce_rows() {
    for (Index i = 0; i < rows_; ++i) {
      const T* c = row(i);
      T least = Forbidden<T>::kNoPath, least_free = least;
      Index free = -1;
      for (Index j = 0; j < cols_; ++j) {
        least = c[j] < least ? c[j] : least;
        if (c[j] < least_free && col_to_row[at(j)] < 0) least_free = c[j], free = j;
      }
      if (free >= 0 && least_free <= least)
        take(i, free);
      else
        free_.push_back(i);
    }
  }
  /// Each free row takes its best column, whose price falls to that of the second best.
  void reduce_free_rows() {
    later_.clear();
    std::size_t steps = 0;
    const std::size_t most = 4 * free_.size() + 16;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      Index i = free_[k];
      while (i >= 0) {
        const T* c = row(i);
        T first = Forbidden<T>::kNoPath, second = first;
        Index best = -1, next = -1;
        for (Index j = 0; j < cols_; ++j) {
          const T reduced = c[j] - v[at(j)];
          if (!(reduced < second)) continue;
          if (reduced < first)
            second = first, next = best, first = reduced, best = j;
          else
            second = reduced, next = j;
        }
        if (best < 0 || next < 0 || ++steps > most || !(v[at(best)] > -Forbidden<T>::kNoPath / 2)) {
          later_.push_back(i);
          break;
        }
        Index owner = col_to_row[at(best)];
        const bool falls = first < second;
        if (falls && owner >= 0) v[at(best)] -= second - first;
        if (!falls && owner >= 0 && col_to_row[at(next)] < 0) best = next, owner = -1;
        if (!falls && owner >= 0) {
          later_.push_back(i);
          break;
        }
        take(i, best);
        if (owner >= 0) row_to_col[at(owner)] = -1;
        i = owner;
      }
    }
    free_.swap(later_);
  }
  bool augment(Index start) {
    const std::size_t n = at(cols_);
    distance_.resize(n), parent_.resize(n), columns_.resize(n);
    const T* c = row(start);
    for (std::size_t j = 0; j < n; ++j) {
      distance_[j] = c[j] - v[j];
      parent_[j] = start;
      columns_[j] = static_cast<Index>(j);
    }
    std::size_t scanned = 0;  // columns_[0, scanned) have their final distance
    Index end = -1;
    T least{};
    while (end < 0) {
      std::size_t best = scanned;
      for (std::size_t p = scanned; p < n; ++p) {
        const T d = distance_[at(columns_[p])], b = distance_[at(columns_[best])];
        if (d < b || (d == b && col_to_row[at(columns_[p])] < 0 && col_to_row[at(columns_[best])] >= 0))
          best = p;
      }
      if (scanned == n) return false;
      const Index j = columns_[best];
      least = distance_[at(j)];
      if (!(least < Forbidden<T>::kNoPath)) return false;
      if (col_to_row[at(j)] < 0) {
        end = j;
        break;
      }
      std::swap(columns_[best], columns_[scanned++]);
      relax(j, least, scanned);
    }
    for (std::size_t p = 0; p < scanned; ++p) v[at(columns_[p])] += distance_[at(columns_[p])] - least;
    for (Index j = end, i = -1; i != start;) {
      i = parent_[at(j)];
      const Index before = row_to_col[at(i)];
      take(i, j);
      j = before;
    }
    return true;
  }
  void relax(Index j, T least, std::size_t scanned) {
    const Index i = col_to_row[at(j)];
    const T* c = row(i);
    const T offset = least - (c[j] - v[at(j)]);
    for (std::size_t p = scanned; p < at(cols_); ++p) {
      const auto k = at(columns_[p]);
      const T d = c[k] - v[k] + offset;
      if (d < distance_[k]) distance_[k] = d, parent_[k] = i;
    }
  }

  const T* costs_ = nullptr;
  Index rows_ = 0, cols_ = 0;
  std::vector<Index> free_, later_, parent_, columns_;
  std::vector<T> distance_;
};

}  // namespace motes::python
