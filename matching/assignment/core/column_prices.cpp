/// A matrix may have columns that are expensive for every row. If rows select their own cheapest pairs,
/// they then all compete for the other columns, and the core has no perfect matching, or a poor one.
///
/// A few such columns get pairs of their own. If there are many, columns have levels, as when a cost is a
/// row term plus a column term plus noise. Then each column gets a level: the kLevelRank-th least amount by
/// which its costs exceed the rows' reach, where the reach of a row is the highest cost among its own
/// pairs. (This is the column reduction of Jonker & Volgenant 1987 with a rank instead of the minimum. A
/// minimum depends much on chance, and when rows and columns alternate with minima, the second pass changes
/// nothing.) Then the rows select again by the reduced costs. As long as many columns are left out, the new
/// reach gives better levels; columns left out in the end get pairs of their own again. Levels are
/// heuristic and may have any value: the bounds hold for all. They are also good starting prices
/// (core_solver.cpp). If such levels do not help, square matrices get annealed prices (annealed_prices.h).

#include "matching/assignment/core/column_prices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>

#include <omp.h>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/annealed_prices.h"
#include "matching/assignment/core/pricing.h"
#include "matching/assignment/dense/row_keys.h"

namespace motes::matching::detail {
namespace {

constexpr Index kFewPoor = 16;     ///< at most one column in this many gets its own pairs
constexpr Offset kMostFactor = 4;  ///< times `wanted`: more pairs of a row are cut
constexpr double kHighestLevel = 0x1p52;
constexpr Index kRowsPerTask = 64;
constexpr std::size_t kColumnsPerTask = 64;
constexpr int kMostTurns = 3;
constexpr std::size_t kLevelRank = 4;

std::vector<Index> poor_columns(const SparseCosts& core, Index wanted, const DistributedRows& distributed) {
  std::vector<Index> degree(at(core.graph.cols), 0), poor;
  for (const Index j : core.graph.col_index) ++degree[at(j)];
  distributed.combine(std::span(degree), std::plus<>());
  for (Index j = 0; j < core.graph.cols; ++j)
    if (degree[at(j)] < wanted) poor.push_back(j);
  return poor;
}

/// [rows] the highest cost above its column's level that a row's pairs have; kInfiniteCost if it has none.
/// About as many pairs lie below it in every row, so it measures the row better than its least cost, which is
/// more random.
std::vector<Cost> reach_of_rows(const CoreSelection& selection) {
  const SparseCosts& core = selection.core;
  std::vector<Cost> reach(at(core.graph.rows), kInfiniteCost);
  for (Index i = 0; i < core.graph.rows; ++i) {
    Cost highest = -kBoundOfAll;
    for (Offset e = core.graph.row_offsets[at(i)]; e < core.graph.row_offsets[at(i) + 1]; ++e) {
      const Cost level = selection.level.empty() ? 0 : selection.level[at(core.graph.col_index[at(e)])];
      highest = std::max(highest, core.cost[at(e)] - level);
    }
    if (highest != -kBoundOfAll) reach[at(i)] = highest;
  }
  return reach;
}

bool has_pair(const SparseCosts& core, Index i, Index j) {
  const auto begin = core.graph.col_index.begin();
  return std::binary_search(begin + core.graph.row_offsets[at(i)], begin + core.graph.row_offsets[at(i) + 1],
                            j);
}

/// A candidate pair of a column that has too few.
struct Found {
  Cost above, cost;
  Index row;  ///< among all rows
  bool operator<(const Found& other) const {
    return above != other.above ? above < other.above : row < other.row;
  }
};

/// Keeps the `wanted` least.
void keep(std::vector<Found>& best, Index wanted, const Found& mine) {
  if (std::ssize(best) == wanted && !(mine < best.back())) return;
  best.insert(std::upper_bound(best.begin(), best.end(), mine), mine);
  if (std::ssize(best) > wanted) best.pop_back();
}

/// Each column's least pairs of all ranks.
void combine(std::vector<std::vector<Found>>& found, Index wanted, const DistributedRows& distributed) {
  if (distributed.ranks == nullptr || distributed.ranks->size() == 1) return;
  constexpr Index kNoRow = -1;
  std::vector<Found> mine;
  for (const auto& best : found) {
    mine.insert(mine.end(), best.begin(), best.end());
    mine.resize(mine.size() + at(wanted) - best.size(), Found{0, 0, kNoRow});
  }
  const std::vector<Found> all = distributed.ranks->all_gather<Found>(mine);
  for (auto& best : found) best.clear();
  for (std::size_t k = 0; k < all.size(); ++k)
    if (all[k].row != kNoRow) keep(found[k % mine.size() / at(wanted)], wanted, all[k]);
}

/// Adds the pairs of these columns that are least above their rows' reach.
template <class T>
void serve(int threads, const DenseEntries<T>& entries, const std::vector<Index>& columns, Index wanted,
           const DistributedRows& distributed, CoreSelection& selection) {
  const std::vector<Cost> reach = reach_of_rows(selection);
  std::vector<std::vector<Found>> found(columns.size());
  for_each_block(threads, columns.size(), kColumnsPerTask, [&](std::size_t begin, std::size_t end) {
    for (Index i = 0; i < entries.rows; ++i) {
      for (std::size_t k = begin; k < end; ++k) {
        const Cost cost = entries.at(i, columns[k]);
        if (cost == kInfiniteCost) continue;
        keep(found[k], wanted, {cost - reach[at(i)], cost, distributed.first + i});
      }
    }
  });
  combine(found, wanted, distributed);
  std::vector<std::vector<CorePair>> added(at(entries.rows));
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (const Found& one : found[k]) {
      const Index i = one.row - distributed.first;
      if (i >= 0 && i < entries.rows && !has_pair(selection.core, i, columns[k]))
        added[at(i)].push_back({columns[k], one.cost});
    }
  add_pairs(selection.core, added);
}

/// The kLevelRank least values of every column among those that one thread has seen.
class LeastOfColumns {
 public:
  explicit LeastOfColumns(Index cols) : limit_(at(cols), kNone), least_(at(cols), Least(kNone)) {}

  /// Adds a row: its entries' values above `base`.
  template <class T>
  void add_row(const T* key, double base) {
    for (std::size_t j = 0; j < limit_.size(); ++j)
      if (const double above = static_cast<double>(key[j]) - base; above < limit_[j] && key[j] <= kLastKey<T>)
        add(j, above);
  }
  void add_all(const LeastOfColumns& other) { add_all(other.least_); }
  /// Combines them with those of all ranks.
  void combine(const DistributedRows& distributed) {
    if (distributed.ranks == nullptr || distributed.ranks->size() == 1) return;
    const std::vector<Least> all = distributed.ranks->all_gather<Least>(least_);
    *this = LeastOfColumns(static_cast<Index>(limit_.size()));
    add_all(all);
  }
  /// The highest of a column's least values; infinite if it has no pair.
  double level(std::size_t j) const {
    double out = kNone;
    for (const double value : least_[j])
      if (value != kNone) out = value;
    return out;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Least : std::array<double, kLevelRank> {
    Least() = default;
    explicit Least(double value) { fill(value); }
  };

  /// Adds values for all columns, from one or several lists one after another.
  void add_all(const std::vector<Least>& lists) {
    for (std::size_t k = 0; k < lists.size(); ++k)
      for (const double value : lists[k])
        if (const std::size_t j = k % limit_.size(); value < limit_[j]) add(j, value);
  }

  void add(std::size_t j, double value) {
    Least& least = least_[j];
    std::size_t k = kLevelRank - 1;
    for (; k > 0 && least[k - 1] > value; --k) least[k] = least[k - 1];
    least[k] = value;
    limit_[j] = least.back();
  }

  std::vector<double> limit_;  ///< [cols] the last of the least
  std::vector<Least> least_;   ///< [cols] rising
};

/// [cols] the least that rows pay above their reach, by rank kLevelRank.
template <class T>
std::vector<Cost> column_levels(int threads, const DenseEntries<T>& entries, const std::vector<Cost>& reach,
                                const DistributedRows& distributed) {
  std::vector<std::optional<LeastOfColumns>> lists(at(threads));
  for_each_block(threads, entries.rows, kRowsPerTask, [&](Index begin, Index end) {
    auto& mine = lists[threads > 1 ? at(omp_get_thread_num()) : 0];
    if (!mine) mine.emplace(entries.cols);
    std::vector<T> buffer;
    for (Index i = begin; i < end; ++i)
      if (reach[at(i)] != kInfiniteCost)
        mine->add_row(row_keys(entries, i, buffer), static_cast<double>(reach[at(i)]) / entries.scale);
  });
  LeastOfColumns all(entries.cols);
  for (const auto& one : lists)
    if (one) all.add_all(*one);
  all.combine(distributed);
  std::vector<Cost> levels(at(entries.cols));
  for (std::size_t j = 0; j < levels.size(); ++j)
    if (const double level = all.level(j); std::isfinite(level))
      levels[j] = static_cast<Cost>(std::clamp(level * entries.scale, -kHighestLevel, kHighestLevel));
  return levels;
}

/// Picks rows' pairs by cost above the columns' levels. Each task has one, with its scratch memory.
template <class T>
class LevelSelector {
 public:
  LevelSelector(const DenseEntries<T>& entries, const RowPricer<DenseEntries<T>>& pricer,
                const std::vector<Cost>& level, Offset wanted, Index first_row)
      : entries_(entries), pricer_(pricer), level_(level), wanted_(wanted), first_row_(first_row) {}

  /// `base`: a reference that follows the row's costs.
  void select(Index row, Cost base, CorePart& out, Cost& bound) {
    found_.clear();
    looked_ = false;
    if (rise_) find(row, base + *rise_);
    if (!suits()) find_sampled(row, base);
    if (!suits()) find_exactly(row, base);
    bound = limit_;
    if (std::ssize(found_) > kMostFactor * wanted_) bound = cut(row) - 1;
    std::sort(found_.begin(), found_.end(), by_column);
    out.pairs.insert(out.pairs.end(), found_.begin(), found_.end());
    out.count.push_back(static_cast<Index>(found_.size()));
  }

 private:
  Cost above(const CorePair& p) const { return p.cost - level_[at(p.col)]; }
  bool suits() const {
    return looked_ && std::ssize(found_) >= wanted_ / 2 && std::ssize(found_) <= kMostFactor * wanted_;
  }

  void find(Index row, Cost limit) {
    looked_ = true;
    limit_ = limit;
    found_.clear();
    pricer_.find(row, limit + 1, scratch_, found_);
  }

  /// Finds pairs up to a limit from evenly spaced entries of the row, of which about eight lie below it.
  void find_sampled(Index row, Cost base) {
    const Offset cols = entries_.cols, size = std::min(cols, std::max<Offset>(256, 8 * cols / wanted_));
    all_.clear();
    for (Offset k = 0; k < size; ++k) {
      const auto j = static_cast<Index>(k * cols / size);
      const Cost cost = entries_.at(row, j);
      all_.push_back(cost == kInfiniteCost ? kBoundOfAll : cost - level_[at(j)]);
    }
    const auto nth = all_.begin() + std::min(size - 1, size * wanted_ / cols);
    std::nth_element(all_.begin(), nth, all_.end());
    if (*nth == kBoundOfAll) return;
    rise_ = *nth - base;
    find(row, *nth);
  }

  /// Finds pairs up to the limit that exactly `wanted` pairs meet, ties apart; the next row starts with the
  /// same distance from its base.
  void find_exactly(Index row, Cost base) {
    all_.clear();
    entries_.for_each(row, 0, 1, [&](Index j, Cost c) { all_.push_back(c - level_[at(j)]); });
    found_.clear();
    limit_ = kBoundOfAll;
    if (all_.empty()) return;
    const auto nth = all_.begin() + std::min<std::ptrdiff_t>(wanted_, std::ssize(all_)) - 1;
    std::nth_element(all_.begin(), nth, all_.end());
    rise_ = *nth - base;
    find(row, *nth);
  }

  /// Keeps the least pairs if too many tie. Returns the least value that may be missing.
  Cost cut(Index row) {
    put_least_first(found_, wanted_, Offset{first_row_} + row, entries_.cols,
                    [&](const CorePair& p) { return above(p); });
    const auto last = found_.begin() + wanted_;
    const Cost least_missing = above(*last);
    found_.erase(last, found_.end());
    return least_missing;
  }

  const DenseEntries<T>& entries_;
  const RowPricer<DenseEntries<T>>& pricer_;
  const std::vector<Cost>& level_;
  Offset wanted_;
  Index first_row_;  ///< among all rows
  PricingScratch scratch_;
  std::vector<CorePair> found_;
  std::vector<Cost> all_;
  Cost limit_ = 0;
  bool looked_ = false;       ///< at this row, so that found_ and limit_ are its own
  std::optional<Cost> rise_;  ///< the previous row's limit minus its base
};

/// A selection from columns' levels. `reach`: a reference that follows a row's costs above the levels, or
/// kInfiniteCost.
template <class T>
CoreSelection select_by_levels(int threads, const DenseEntries<T>& entries, Offset wanted,
                               const std::vector<Cost>& reach, std::vector<Cost>&& level,
                               const DistributedRows& distributed) {
  CoreSelection out;
  out.level = std::move(level);
  out.bound.resize(at(entries.rows));
  RowPricer<DenseEntries<T>> pricer(entries);
  pricer.set_duals(out.level);
  std::vector<CorePart> parts(at((entries.rows + kRowsPerTask - 1) / kRowsPerTask));
  for_each_block(threads, entries.rows, kRowsPerTask, [&](Index begin, Index end) {
    LevelSelector<T> selector(entries, pricer, out.level, wanted, distributed.first);
    for (Index i = begin; i < end; ++i) {
      const Cost base = reach[at(i)] == kInfiniteCost ? 0 : reach[at(i)];
      selector.select(i, base, parts[at(begin / kRowsPerTask)], out.bound[at(i)]);
    }
  });
  out.core.graph.rows = entries.rows;
  out.core.graph.cols = entries.cols;
  unite(threads, kRowsPerTask, parts, out.core);
  return out;
}

}  // namespace

template <class T>
void serve_columns(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                   Index of_columns, const DistributedRows& distributed, CoreSelection& selection) {
  const int threads = thread_count(execution);
  std::vector<Index> poor = poor_columns(selection.core, of_columns, distributed);
  for (int turn = 0; turn < kMostTurns && kFewPoor * std::ssize(poor) > entries.cols; ++turn) {
    const std::vector<Cost> reach = reach_of_rows(selection);
    CoreSelection levelled = select_by_levels(
        threads, entries, wanted, reach, column_levels(threads, entries, reach, distributed), distributed);
    levelled.largest = selection.largest;
    std::vector<Index> still_poor = poor_columns(levelled.core, of_columns, distributed);
    if (4 * still_poor.size() > 3 * poor.size()) break;  // levels do not help
    selection = std::move(levelled);
    poor = std::move(still_poor);
  }
  if (kFewPoor * std::ssize(poor) > entries.cols && distributed.of_all(entries.rows) == entries.cols)
    return select_by_annealing(execution, entries, wanted, of_columns, distributed, selection);
  if (!poor.empty()) serve(threads, entries, poor, of_columns, distributed, selection);
}

template <class T>
void select_by_annealing(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                         Index of_columns, const DistributedRows& distributed, CoreSelection& selection) {
  const int threads = thread_count(execution);
  auto [u, v] = annealed_prices(threads, entries, distributed);
  CoreSelection annealed = select_by_levels(threads, entries, wanted, u, std::move(v), distributed);
  annealed.largest = selection.largest;
  annealed.annealed = true;
  selection = std::move(annealed);
  const std::vector<Index> poor = poor_columns(selection.core, of_columns, distributed);
  if (!poor.empty()) serve(threads, entries, poor, of_columns, distributed, selection);
}

#define MOTES_INSTANTIATE(T)                                                                 \
  template void serve_columns(const Execution&, const DenseEntries<T>&, Offset, Index,       \
                              const DistributedRows&, CoreSelection&);                       \
  template void select_by_annealing(const Execution&, const DenseEntries<T>&, Offset, Index, \
                                    const DistributedRows&, CoreSelection&);
MOTES_INSTANTIATE(std::int32_t)
MOTES_INSTANTIATE(std::int64_t)
MOTES_INSTANTIATE(float)
MOTES_INSTANTIATE(double)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::detail
