/// The stages of Jonker & Volgenant on a full matrix.
///
/// A row of costs is first converted to 64-bit grid values (forbidden pairs: kFar), which small matrices
/// keep, then scanned against the duals. Both loops run over consecutive memory without branches, so that
/// they vectorise.
///
/// Column reduction, only for perfect problems (in others a dual must not rise above its start): v_j
/// becomes the least cost of the column, and the row with that cost takes the column if it is free. Row
/// reduction and augmentation are those of sparse_augmenting_paths.cpp, but the open columns are not in a
/// heap: their keys are in one array, and the scan that updates the keys also finds the least, that of free
/// columns apart, for a path may end at a free column before others as near are settled. A settled
/// column gets a dual so low that no offer reaches it again, and an infinite key.

#include "matching/assignment/dense/dense_augmenting_paths.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <motes/base/function_clones.h>
#include <motes/base/index.h>
#include <motes/base/lanes.h>
#include <motes/base/stop.h>
#include <motes/base/timer.h>

#include "matching/assignment/dense/row_buffer.h"

namespace motes::matching::detail {
namespace {

/// Bounds: |c| <= 2^58, |v| and every distance <= 2^60 (see make_sides; with exits on every row distances
/// stay below 2^60 of themselves), so that no sum below leaves 64 bits.
constexpr Cost kFar = kForbiddenCost;        ///< an unreached column's key
constexpr Cost kSettled = -(Cost{1} << 62);  ///< dual of a settled column while its search runs
constexpr std::size_t kMostCopied = std::size_t{128} << 20;  ///< bytes of costs that are converted only once
constexpr std::int64_t kReductionBidsPerRow = 4;             ///< budget of the row reduction
constexpr int kSweeps = 2;                                   ///< of the row reduction

/// The least keys after a row's scan.
struct Nearest {
  Cost key = kFar;       ///< of all open columns
  std::size_t col = 0;   ///< the first that has it
  Cost free_key = kFar;  ///< of the free ones among them
};

/// key[j] = min(key[j], base + cost[j] - v[j]), `row` remembered where it fell. held[j]: kFar where a row
/// holds the column, else 0. The arrays hold a multiple of kLanes columns, the last ones unreachable.
MOTES_CLONES Nearest relax(const Cost* __restrict cost, const Cost* __restrict v, Cost base,
                           Cost* __restrict key, Cost* __restrict via, const Cost* __restrict held, Cost row,
                           std::size_t count) {
  Integers least = Integers{} + kFar, least_free = least, col{};
  Integers here{0, 1, 2, 3};
  for (std::size_t j = 0; j < count; j += kLanes, here += kLanes) {
    const Integers distance = lanes<Integers>(cost + j) - lanes<Integers>(v + j) + base;
    const Integers before = lanes<Integers>(key + j);
    const Integers nearer = distance < before;
    const Integers now = nearer ? distance : before;
    lanes<Integers>(key + j) = now;
    lanes<Integers>(via + j) = nearer ? Integers{} + row : lanes<Integers>(via + j);
    const Integers least_now = now < least;
    least = least_now ? now : least;
    col = least_now ? here : col;
    const Integers as_free = now + lanes<Integers>(held + j);
    least_free = as_free < least_free ? as_free : least_free;
  }
  Nearest out;
  for (std::size_t k = 0; k < kLanes; ++k) {
    const auto j = static_cast<std::size_t>(col[k]);
    if (least[k] < out.key || (least[k] == out.key && j < out.col)) out.key = least[k], out.col = j;
    out.free_key = std::min<Cost>(out.free_key, least_free[k]);
  }
  return out;
}

/// offer[j] = cost[j] - v[j]; returns the least.
MOTES_CLONES Cost offers(const Cost* __restrict cost, const Cost* __restrict v, Cost* __restrict offer,
                         std::size_t count) {
  Cost least = std::numeric_limits<Cost>::max();
  for (std::size_t j = 0; j < count; ++j) {
    const Cost mine = cost[j] - v[j];
    offer[j] = mine;
    least = mine < least ? mine : least;
  }
  return least;
}

/// The least value except the one at `skip`.
MOTES_CLONES Cost least_without(Cost* __restrict value, std::size_t skip, std::size_t count) {
  value[skip] = std::numeric_limits<Cost>::max();
  Cost least = std::numeric_limits<Cost>::max();
  for (std::size_t j = 0; j < count; ++j) least = value[j] < least ? value[j] : least;
  return least;
}

MOTES_CLONES void lower_to(const Cost* __restrict cost, Cost* __restrict v, Cost* __restrict by, Cost row,
                           std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) {
    const bool lower = cost[j] < v[j];
    v[j] = lower ? cost[j] : v[j];
    by[j] = lower ? row : by[j];
  }
}

std::size_t first_equal(const Cost* value, Cost wanted) {
  std::size_t j = 0;
  while (value[j] != wanted) ++j;
  return j;
}

template <class Entries>
class DensePaths {
 public:
  DensePaths(const Canonical<Entries>& problem, StartState&& start)
      : problem_(problem),
        cols_(at(problem.cols)),
        v_(std::move(start.v)),
        row_to_col_(std::move(start.row_to_col)),
        col_to_row_(std::move(start.col_to_row)),
        paid_(at(problem.rows), 0),
        width_((cols_ + kLanes - 1) / kLanes * kLanes),
        cost_(width_, kFar),
        key_(width_),
        via_(width_),
        held_(width_, kFar) {
    v_.resize(width_);
    if (at(problem.rows) * width_ * sizeof(Cost) <= kMostCopied) {
      copy_.assign(at(problem.rows) * width_, kFar);
      copied_.assign(at(problem.rows), 0);
    }
    for (Index i = 0; i < problem.rows; ++i) {
      const Index j = row_to_col_[at(i)];
      if (j == -1) continue;
      paid_[at(i)] = problem.entries.at(i, j);
      ++stats_.initial_assignments;
    }
  }

  /// None if the searches need more than `most_scans` scans of a row, or the first of them are long.
  std::optional<Solution> solve(bool warm, std::int64_t most_scans) {
    auto start = std::chrono::steady_clock::now();
    if (problem_.perfect && !warm) reduce_columns();
    stats_.seconds["column_reduction"] = seconds_since(start);
    start = std::chrono::steady_clock::now();
    reduce_rows();
    stats_.seconds["row_reduction"] = seconds_since(start);
    start = std::chrono::steady_clock::now();
    for (Index j = 0; j < problem_.cols; ++j) held_[at(j)] = col_to_row_[at(j)] == -1 ? 0 : kFar;
    const Stop stop = Stop::of_this_thread();
    for (const Index row : pending_) {
      stop.check();
      if (infeasible_) break;
      if (stats_.phases > most_scans || searches_are_long(most_scans)) return std::nullopt;
      search(row);
    }
    stats_.seconds["augmentation"] = seconds_since(start);
    v_.resize(cols_);
    return Solution{std::move(row_to_col_), std::move(v_), infeasible_, std::move(stats_)};
  }

 private:
  /// Whether a 32nd of the scans was enough for less than a quarter of the searches.
  bool searches_are_long(std::int64_t most_scans) const {
    return stats_.phases > most_scans / 32 && at(stats_.augmentations) < pending_.size() / 4;
  }

  /// The row's costs [width_] on the grid, valid until the next call.
  const Cost* costs_of(Index i) {
    if (copied_.empty()) {
      fill_row(problem_.entries, i, cost_.data());
      return cost_.data();
    }
    Cost* row = copy_.data() + at(i) * width_;
    if (copied_[at(i)] == 0) fill_row(problem_.entries, i, row);
    copied_[at(i)] = 1;
    return row;
  }

  void reduce_columns() {
    if (problem_.rows == 0) return;
    std::fill_n(v_.begin(), cols_, kFar);
    std::fill(via_.begin(), via_.end(), Cost{-1});
    for (Index i = 0; i < problem_.rows; ++i) {
      lower_to(costs_of(i), v_.data(), via_.data(), i, cols_);
    }
    // From the last column to the first, as in the paper, which gives no reason.
    for (Index j = problem_.cols; j-- > 0;) {
      if (via_[at(j)] == -1) {  // a column of forbidden pairs only
        v_[at(j)] = 0;
        infeasible_ = true;
        continue;
      }
      const auto i = static_cast<Index>(via_[at(j)]);
      if (row_to_col_[at(i)] != -1) continue;
      match(i, j, v_[at(j)]);
      ++stats_.initial_assignments;
    }
  }

  void match(Index i, Index j, Cost cost) {
    row_to_col_[at(i)] = j;
    col_to_row_[at(j)] = i;
    paid_[at(i)] = cost;
  }

  /// A free row takes its best offer and lowers that column's dual until the offer equals its second best;
  /// the displaced row is next. If the two tie, no price moves: the row takes a free column among the best,
  /// else the second of them, and a row displaced there waits for the next sweep, as in the paper.
  void reduce_rows() {
    std::int64_t budget = kReductionBidsPerRow * problem_.rows;
    for (Index i = 0; i < problem_.rows; ++i)
      if (row_to_col_[at(i)] == -1) pending_.push_back(i);
    std::vector<Index> sweep;
    for (int k = 0; k < kSweeps && !pending_.empty(); ++k) {
      sweep.swap(pending_);
      pending_.clear();
      for (Index row : sweep) {
        while (row != -1) {
          if (budget-- <= 0) {
            pending_.push_back(row);
            break;
          }
          row = bid(row);
        }
      }
    }
  }

  /// The next row, or -1.
  Index bid(Index row) {
    ++stats_.rounds;
    const Cost exit = problem_.exit_of(row);
    if (cols_ == 0) {
      infeasible_ = infeasible_ || exit == kInfiniteCost;
      return -1;
    }
    const Cost* cost = costs_of(row);
    const Cost best = offers(cost, v_.data(), key_.data(), cols_);
    if (exit <= best) return -1;  // the exit is best, for good
    std::size_t j = first_equal(key_.data(), best);
    if (cost[j] == kFar) {
      infeasible_ = true;
      return -1;
    }
    Index displaced = col_to_row_[j];
    const Cost second = std::min(exit, least_without(key_.data(), j, cols_));
    if (second == best && displaced != -1) return settle_tie(row, cost, j, best);
    if (second > kFar / 2) {  // an only offer has no price: let a search decide, unless it is free
      if (displaced != -1) {
        pending_.push_back(row);
        return -1;
      }
    } else {
      v_[j] -= second - best;
    }
    match(row, static_cast<Index>(j), cost[j]);
    if (displaced != -1) row_to_col_[at(displaced)] = -1;
    return displaced;
  }

  Index settle_tie(Index row, const Cost* cost, std::size_t first, Cost best) {
    std::size_t second = cols_;
    for (std::size_t k = first + 1; k < cols_; ++k) {
      if (key_[k] != best || cost[k] == kFar) continue;
      if (second == cols_) second = k;
      if (col_to_row_[k] != -1) continue;
      match(row, static_cast<Index>(k), cost[k]);
      return -1;
    }
    if (second == cols_) {  // the tie is with the row's exit
      pending_.push_back(row);
      return -1;
    }
    const Index displaced = col_to_row_[second];
    match(row, static_cast<Index>(second), cost[second]);
    row_to_col_[at(displaced)] = -1;
    pending_.push_back(displaced);
    return -1;
  }

  void search(Index source) {
    ++stats_.augmentations;
    std::fill(key_.begin(), key_.end(), kFar);
    settled_.clear();
    Cost base = 0, end = kFar;
    Index row = source, end_row = -1;
    while (true) {
      ++stats_.phases;
      const Nearest nearest =
          relax(costs_of(row), v_.data(), base, key_.data(), via_.data(), held_.data(), row, width_);
      const Cost exit = problem_.exit_of(row);
      if (exit != kInfiniteCost && base + exit < end) end = base + exit, end_row = row;
      if (nearest.free_key < end) end = nearest.free_key, end_row = -1;
      if (end <= nearest.key || nearest.key >= kFar / 2) break;
      const std::size_t j = nearest.col;
      settled_.push_back({static_cast<Index>(j), nearest.key, v_[j]});
      v_[j] = kSettled;
      key_[j] = kFar;
      row = col_to_row_[j];
      base = nearest.key - (paid_[at(row)] - settled_.back().dual);
    }
    if (end >= kFar / 2) infeasible_ = true;
    for (const Settled& s : settled_) v_[at(s.col)] = s.dual - (infeasible_ ? 0 : end - s.distance);
    if (!infeasible_) augment(source, end_row, end);
  }

  /// The path ends at the exit of `end_row`, or (-1) at the first free column whose key is `end`.
  void augment(Index source, Index end_row, Cost end) {
    Index col = 0;
    if (end_row != -1) {  // that row goes free; the column it held becomes the path's end
      col = row_to_col_[at(end_row)];
      row_to_col_[at(end_row)] = -1;
      if (end_row == source) return;
    } else {
      while (held_[at(col)] != 0 || key_[at(col)] != end) ++col;
      held_[at(col)] = kFar;
    }
    while (true) {
      const auto row = static_cast<Index>(via_[at(col)]);
      const Index released = row_to_col_[at(row)];
      match(row, col, problem_.entries.at(row, col));
      if (row == source) return;
      col = released;
    }
  }

  struct Settled {
    Index col;
    Cost distance, dual;
  };

  const Canonical<Entries>& problem_;
  std::size_t cols_;
  std::vector<Cost> v_;
  std::vector<Index> row_to_col_, col_to_row_;
  std::vector<Cost> paid_;              ///< [rows] cost of the row's pair
  std::size_t width_;                   ///< columns and unreachable ones, up to whole vectors
  std::vector<Cost> cost_, key_, via_;  ///< [width_] scratch: a row's costs, keys, rows that gave them
  std::vector<Cost> held_;              ///< [width_] 0 of free columns, else kFar
  std::vector<Cost> copy_;              ///< [rows * width_] costs on the grid; empty: too many
  std::vector<char> copied_;            ///< [rows] whether the copy has the row
  std::vector<Index> pending_;
  std::vector<Settled> settled_;
  bool infeasible_ = false;
  Stats stats_;
};

}  // namespace

template <class Entries>
Solution solve_by_dense_paths(const Canonical<Entries>& problem, const Start& start) {
  constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
  const bool warm = !start.row_to_col.empty() || !start.u.empty() || !start.v.empty();
  if (!warm) return *try_dense_paths(problem, kNoLimit);
  return *DensePaths<Entries>(problem, make_start(problem, start)).solve(true, kNoLimit);
}

template <class Entries>
std::optional<Solution> try_dense_paths(const Canonical<Entries>& problem, std::int64_t most_scans) {
  StartState state;
  state.v = problem.start;
  state.row_to_col.assign(at(problem.rows), -1);
  state.col_to_row.assign(at(problem.cols), -1);
  return DensePaths<Entries>(problem, std::move(state)).solve(false, most_scans);
}

#define MOTES_INSTANTIATE(Entries)                                                 \
  template Solution solve_by_dense_paths(const Canonical<Entries>&, const Start&); \
  template std::optional<Solution> try_dense_paths(const Canonical<Entries>&, std::int64_t);
MOTES_INSTANTIATE(DenseEntries<std::int32_t>)
MOTES_INSTANTIATE(DenseEntries<std::int64_t>)
MOTES_INSTANTIATE(DenseEntries<float>)
MOTES_INSTANTIATE(DenseEntries<double>)
MOTES_INSTANTIATE(GeometricEntries)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::detail
