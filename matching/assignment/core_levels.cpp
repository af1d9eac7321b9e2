/// A matrix may have columns that are dear for everybody: rows that take their own cheapest pairs then all
/// compete for the other columns, and a core of such pairs has no perfect matching, or a poor one.
///
/// Few such columns get pairs of their own, read column by column. Many mean that columns have levels, as
/// where a cost is a row's number plus a column's plus noise. So each column gets one, the least that any row
/// pays for it above its own least cost (the column reduction of Jonker & Volgenant 1987, from rows' levels),
/// and rows choose anew by what is left of their costs. Levels are guesses and may be anything: the bounds
/// hold for whatever they are.

#include "matching/assignment/core_levels.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "matching/assignment/core_pricing.h"
#include "matching/detail/canonical.h"
#include "matching/detail/row_keys.h"
#include "matching/parallel_for.h"

namespace motes::matching::detail {
namespace {

constexpr Index kFewPoor = 16;     ///< one column in so many is served by itself
constexpr Offset kMostFactor = 4;  ///< times `wanted`: more pairs of a row are cut
constexpr double kHighestLevel = 0x1p52;
constexpr Index kRowsPerTask = 64;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::size_t at(Offset e) { return static_cast<std::size_t>(e); }

std::vector<Index> poor_columns(const SparseCosts& core, Index wanted) {
  std::vector<Index> degree(at(core.graph.cols), 0), poor;
  for (const Index j : core.graph.col_index) ++degree[at(j)];
  for (Index j = 0; j < core.graph.cols; ++j)
    if (degree[at(j)] < wanted) poor.push_back(j);
  return poor;
}

/// [rows] the least cost of each row; kInfiniteCost where it has no pair.
std::vector<Cost> least_of_rows(const SparseCosts& core) {
  std::vector<Cost> least(at(core.graph.rows), kInfiniteCost);
  for (Index i = 0; i < core.graph.rows; ++i)
    for (Offset e = core.graph.row_offsets[at(i)]; e < core.graph.row_offsets[at(i) + 1]; ++e)
      least[at(i)] = std::min(least[at(i)], core.cost[at(e)]);
  return least;
}

bool has_pair(const SparseCosts& core, Index i, Index j) {
  const auto begin = core.graph.col_index.begin();
  return std::binary_search(begin + core.graph.row_offsets[at(i)], begin + core.graph.row_offsets[at(i) + 1],
                            j);
}

/// Adds the pairs of these columns that are least above their rows' least costs.
template <class T>
void serve(int threads, const DenseEntries<T>& entries, const std::vector<Index>& columns, Index wanted,
           SparseCosts& core) {
  struct Found {
    Cost above, cost;
    Index row;
    bool operator<(const Found& other) const {
      return above != other.above ? above < other.above : row < other.row;
    }
  };
  const std::vector<Cost> least = least_of_rows(core);
  std::vector<std::vector<Found>> found(columns.size());
  parallel_for(threads, static_cast<std::int64_t>(columns.size()), [&](std::int64_t k) {
    auto& best = found[at(k)];
    for (Index i = 0; i < entries.rows; ++i) {
      const Cost cost = entries.at(i, columns[at(k)]);
      if (cost == kInfiniteCost) continue;
      const Found mine{cost - least[at(i)], cost, i};
      if (std::ssize(best) == wanted && !(mine < best.back())) continue;
      best.insert(std::upper_bound(best.begin(), best.end(), mine), mine);
      if (std::ssize(best) > wanted) best.pop_back();
    }
  });
  std::vector<std::vector<CorePair>> added(at(entries.rows));
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (const Found& one : found[k])
      if (!has_pair(core, one.row, columns[k])) added[at(one.row)].push_back({columns[k], one.cost});
  add_pairs(core, added);
}

/// [cols] the least that any row pays above its least cost.
template <class T>
std::vector<Cost> column_levels(int threads, const DenseEntries<T>& entries, const std::vector<Cost>& least) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> lowest(static_cast<std::size_t>(threads));
  parallel_for(threads, (entries.rows + kRowsPerTask - 1) / kRowsPerTask, [&](std::int64_t task) {
    auto& mine = lowest[static_cast<std::size_t>(omp_get_thread_num())];
    mine.resize(at(entries.cols), kNone);
    std::vector<T> buffer;
    const Index begin = static_cast<Index>(task) * kRowsPerTask,
                end = std::min<Index>(entries.rows, begin + kRowsPerTask);
    for (Index i = begin; i < end; ++i) {
      if (least[at(i)] == kInfiniteCost) continue;
      const double base = static_cast<double>(least[at(i)]) / entries.scale;
      const T* key = row_keys(entries, i, buffer);
      for (Index j = 0; j < entries.cols; ++j) {
        const double above = key[j] > kLastKey<T> ? kNone : static_cast<double>(key[j]) - base;
        mine[at(j)] = std::min(mine[at(j)], above);
      }
    }
  });
  std::vector<Cost> levels(at(entries.cols));
  for (std::size_t j = 0; j < levels.size(); ++j) {
    double level = kNone;
    for (const auto& one : lowest)
      if (!one.empty()) level = std::min(level, one[j]);
    if (level != kNone)
      levels[j] = static_cast<Cost>(std::clamp(level * entries.scale, -kHighestLevel, kHighestLevel));
  }
  return levels;
}

/// Picks rows' pairs by cost above the columns' levels; one of these a task, for its scratch.
template <class T>
class LevelSelector {
 public:
  LevelSelector(const DenseEntries<T>& entries, const RowPricer<DenseEntries<T>>& pricer,
                const std::vector<Cost>& level, Offset wanted)
      : entries_(entries), pricer_(pricer), level_(level), wanted_(wanted) {}

  void select(Index row, Cost least, CorePart& out, Cost& bound) {
    found_.clear();
    if (reach_ >= 0) find(row, least + reach_);
    if (!suits()) find_exactly(row, least);
    bound = limit_;
    if (std::ssize(found_) > kMostFactor * wanted_) bound = cut(row) - 1;
    std::sort(found_.begin(), found_.end(),
              [](const CorePair& a, const CorePair& b) { return a.col < b.col; });
    out.pairs.insert(out.pairs.end(), found_.begin(), found_.end());
    out.count.push_back(static_cast<Index>(found_.size()));
  }

 private:
  Cost above(const CorePair& p) const { return p.cost - level_[at(p.col)]; }
  bool suits() const {
    return std::ssize(found_) >= wanted_ / 2 && std::ssize(found_) <= kMostFactor * wanted_;
  }

  void find(Index row, Cost limit) {
    limit_ = limit;
    found_.clear();
    pricer_.find(row, limit + 1, scratch_, found_);
  }

  /// The limit that `wanted` pairs meet, ties apart; the next row begins with what it leaves above its least.
  void find_exactly(Index row, Cost least) {
    all_.clear();
    entries_.for_each(row, 0, 1, [&](Index j, Cost c) { all_.push_back(c - level_[at(j)]); });
    found_.clear();
    limit_ = kBoundOfAll;
    if (all_.empty()) return;
    const auto nth = all_.begin() + std::min<std::ptrdiff_t>(wanted_, std::ssize(all_)) - 1;
    std::nth_element(all_.begin(), nth, all_.end());
    reach_ = *nth - least;
    find(row, *nth);
  }

  /// Where too many tie: those that come first from a place of the row's own. Returns the highest value that
  /// may be missing.
  Cost cut(Index row) {
    const auto first = static_cast<Index>(std::int64_t{row} * 7919 % entries_.cols);
    const auto turned = [&](Index j) { return j >= first ? Offset{j} : Offset{j} + entries_.cols; };
    const auto last = found_.begin() + wanted_;
    std::nth_element(found_.begin(), last, found_.end(), [&](const CorePair& a, const CorePair& b) {
      return above(a) != above(b) ? above(a) < above(b) : turned(a.col) < turned(b.col);
    });
    const Cost least_missing = above(*last);
    found_.erase(last, found_.end());
    return least_missing;
  }

  const DenseEntries<T>& entries_;
  const RowPricer<DenseEntries<T>>& pricer_;
  const std::vector<Cost>& level_;
  Offset wanted_;
  PricingScratch scratch_;
  std::vector<CorePair> found_;
  std::vector<Cost> all_;
  Cost limit_ = 0;
  Cost reach_ = -1;  ///< limit of the row before above its least cost; negative: not known
};

template <class T>
void select_by_levels(int threads, const DenseEntries<T>& entries, Offset wanted, CoreSelection& selection) {
  const std::vector<Cost> least = least_of_rows(selection.core);
  selection.level = column_levels(threads, entries, least);
  RowPricer<DenseEntries<T>> pricer(entries);
  pricer.set_duals(selection.level);
  const Index tasks = (entries.rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<CorePart> parts(at(tasks));
  parallel_for(threads, tasks, [&](std::int64_t task) {
    LevelSelector<T> selector(entries, pricer, selection.level, wanted);
    const Index begin = static_cast<Index>(task) * kRowsPerTask,
                end = std::min<Index>(entries.rows, begin + kRowsPerTask);
    for (Index i = begin; i < end; ++i) {
      const Cost base = least[at(i)] == kInfiniteCost ? 0 : least[at(i)];
      selector.select(i, base, parts[at(task)], selection.bound[at(i)]);
    }
  });
  selection.core.graph.row_offsets = {0};
  unite(threads, kRowsPerTask, parts, selection.core);
}

}  // namespace

template <class T>
void serve_columns(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                   Index of_columns, CoreSelection& selection) {
  const int threads = thread_count(execution);
  const auto few = [&](const std::vector<Index>& columns) {
    return kFewPoor * std::ssize(columns) <= entries.cols;
  };
  std::vector<Index> poor = poor_columns(selection.core, of_columns);
  if (!few(poor)) {
    select_by_levels(threads, entries, wanted, selection);
    poor = poor_columns(selection.core, of_columns);
  }
  if (!poor.empty() && few(poor)) serve(threads, entries, poor, of_columns, selection.core);
}

template void serve_columns(const Execution&, const DenseEntries<std::int32_t>&, Offset, Index,
                            CoreSelection&);
template void serve_columns(const Execution&, const DenseEntries<std::int64_t>&, Offset, Index,
                            CoreSelection&);
template void serve_columns(const Execution&, const DenseEntries<float>&, Offset, Index, CoreSelection&);
template void serve_columns(const Execution&, const DenseEntries<double>&, Offset, Index, CoreSelection&);

}  // namespace motes::matching::detail
