/// Selection from a matrix in one pass in memory order: at a few cycles an entry, memory sets the pace. The
/// pairs of a row are the entries up to a limit. The limit of the row before is used as long as it gives a
/// suitable number of pairs; otherwise a sample of the row gives a new one.

#include "matching/assignment/core/selection.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <motes/base/for_each_task.h>
#include <motes/base/index.h>

#include "matching/assignment/canonical/canonical_form.h"
#include "matching/assignment/core/column_prices.h"
#include "matching/assignment/dense/row_keys.h"
#include "matching/assignment/dense/row_scan.h"

namespace motes::matching::detail {
namespace {

constexpr Offset kMostFactor = 4;  ///< times `wanted`: more pairs, through ties or a bad sample, are cut
constexpr Index kRowsPerTask = 256;

template <class T>
constexpr T kForbiddenKey = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                 : std::numeric_limits<T>::max();

/// Picks rows' first pairs. Each task has one, with its scratch memory.
template <class T>
class RowSelector {
 public:
  using Entries = DenseEntries<T>;
  RowSelector(const Entries& entries, Offset wanted, Index first_row)
      : entries_(entries), wanted_(wanted), first_row_(first_row), hit_(at(entries.cols)) {}

  /// Adds the row to the part. Reads it once from memory, and again only from the cache.
  RowScan<T> select(Index row, CorePart& out, Cost& bound) {
    const T* key = row_keys(entries_, row, buffer_);
    if (!has_last_) set_last(sampled_limit(key));
    const RowScan<T> scan = scan_row(instructions_, key, entries_.cols, last_, hit_.data());
    if (scan.bad) return scan;  // there will be no core
    Index hits = scan.hits;
    if (!suits(hits) && !tied(key, hits)) {
      set_last(sampled_limit(key));
      hits = scan_row(instructions_, key, entries_.cols, last_, hit_.data()).hits;
    }
    if (!suits(hits) && !tied(key, hits)) {
      set_last(exact_limit(key));
      hits = scan_row(instructions_, key, entries_.cols, last_, hit_.data()).hits;
      has_last_ = false;
    }
    take(row, key, hits, out, bound);
    return scan;
  }

 private:
  void set_last(T limit) {
    last_ = std::min(limit, kLastKey<T>);
    has_last_ = true;
  }

  bool suits(Index hits) const {
    return hits <= kMostFactor * wanted_ && (hits >= wanted_ / 2 || last_ == kLastKey<T>);
  }

  /// Whether there are too many pairs only because many cost as much as the limit, so that no other limit
  /// is better.
  bool tied(const T* key, Index hits) const {
    if (hits <= kMostFactor * wanted_) return false;
    Offset cheaper = 0;
    for (Index k = 0; k < hits && cheaper < wanted_; ++k) cheaper += key[hit_[at(k)]] < last_;
    return cheaper < wanted_;
  }

  /// From evenly spaced places of the row, about eight of them below the limit. NaN cannot be sorted: it
  /// counts as forbidden here, and is found by the pass.
  T sampled_limit(const T* key) {
    const Offset cols = entries_.cols, size = std::min(cols, std::max<Offset>(256, 8 * cols / wanted_));
    sample_.clear();
    for (Offset k = 0; k < size; ++k) {
      const T value = key[k * cols / size];
      sample_.push_back(value <= kLastKey<T> ? value : kForbiddenKey<T>);
    }
    return ranked(std::min(size - 1, size * wanted_ / cols));
  }

  /// The limit that exactly `wanted` pairs do not exceed, apart from ties.
  T exact_limit(const T* key) {
    sample_.assign(key, key + entries_.cols);
    return ranked(std::min<Offset>(wanted_, entries_.cols) - 1);
  }

  T ranked(Offset rank) {
    std::nth_element(sample_.begin(), sample_.begin() + rank, sample_.end());
    return sample_[at(rank)];
  }

  /// Entries of equal cost may lie on both sides of the limit, so that only pairs cheaper than the one at
  /// the limit are surely all among those taken.
  void take(Index row, const T* key, Index hits, CorePart& out, Cost& bound) {
    const auto first = static_cast<std::ptrdiff_t>(out.pairs.size());
    Cost highest = -kBoundOfAll;
    for (Index k = 0; k < hits; ++k) {
      const Index j = hit_[at(k)];
      const Cost cost = grid_value(key[j], entries_.scale);
      highest = std::max(highest, cost);
      out.pairs.push_back({j, cost});
    }
    bound = last_ == kLastKey<T> ? kBoundOfAll : highest - 1;
    if (hits > kMostFactor * wanted_) {
      cut_ties(row, highest, out.pairs.begin() + first, out.pairs);
      bound = highest - 1;
    }
    out.count.push_back(static_cast<Index>(static_cast<std::ptrdiff_t>(out.pairs.size()) - first));
  }

  /// If there are more ties at the limit than the core can take: keeps everything cheaper, and the ties that
  /// come first from a start that depends on the row, so that rows do not all compete for the same columns.
  void cut_ties(Index row, Cost highest, std::vector<CorePair>::iterator first,
                std::vector<CorePair>& pairs) {
    const auto ties =
        std::stable_partition(first, pairs.end(), [&](const CorePair& p) { return p.cost < highest; });
    const auto of_all = static_cast<std::uint64_t>(first_row_) + static_cast<std::uint64_t>(row);
    const auto place =
        static_cast<Index>((of_all * 0x9e3779b97f4a7c15U >> 32) % static_cast<std::uint64_t>(entries_.cols));
    std::rotate(ties, std::lower_bound(ties, pairs.end(), CorePair{place, 0}, by_column), pairs.end());
    const auto last = std::max(ties, first + static_cast<std::ptrdiff_t>(wanted_));
    std::sort(first, last, by_column);
    pairs.erase(last, pairs.end());
  }

  const Entries& entries_;
  Offset wanted_;
  Index first_row_;  ///< among all rows
  Instructions instructions_ = best_instructions();
  std::vector<Index> hit_;
  std::vector<T> buffer_, sample_;
  T last_{};
  bool has_last_ = false;
};

}  // namespace

template <class T>
CoreSelection select_core(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                          Index of_columns, const DistributedRows& distributed) {
  if (distributed.of_all(entries.rows) == 0 || entries.cols == 0) return {};
  const Index tasks = (entries.rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<CorePart> parts(at(tasks));
  std::vector<T> largest(at(tasks), 0);
  std::atomic<bool> bad = false;
  CoreSelection out;
  out.bound.resize(at(entries.rows));
  for_each_block(thread_count(execution), entries.rows, kRowsPerTask, [&](Index begin, Index end) {
    const std::size_t task = at(begin / kRowsPerTask);
    RowSelector<T> selector(entries, wanted, distributed.first);
    parts[task].pairs.reserve(at(kRowsPerTask) * at(std::min<Offset>(2 * wanted, entries.cols)));
    for (Index i = begin; i < end && !bad; ++i) {
      const RowScan<T> scan = selector.select(i, parts[task], out.bound[at(i)]);
      largest[task] = std::max(largest[task], scan.largest);
      if (scan.bad) bad = true;
    }
  });
  double seen[] = {tasks > 0 ? static_cast<double>(*std::max_element(largest.begin(), largest.end())) : 0,
                   bad ? 1.0 : 0.0};
  distributed.combine(std::span<double>(seen), [](double a, double b) { return std::max(a, b); });
  out.largest = seen[0];
  out.bad = seen[1] > 0;
  if (out.bad) return out;
  out.core.graph.rows = entries.rows;
  out.core.graph.cols = entries.cols;
  unite(thread_count(execution), kRowsPerTask, parts, out.core);
  const bool legal = out.largest * entries.scale <= static_cast<double>(kMaxGridCost);
  if (of_columns > 0 && legal)
    serve_columns(execution, entries, wanted, std::min(of_columns, distributed.of_all(entries.rows)),
                  distributed, out);
  return out;
}

#define MOTES_INSTANTIATE(T)                                                                  \
  template CoreSelection select_core(const Execution&, const DenseEntries<T>&, Offset, Index, \
                                     const DistributedRows&);
MOTES_INSTANTIATE(std::int32_t)
MOTES_INSTANTIATE(std::int64_t)
MOTES_INSTANTIATE(float)
MOTES_INSTANTIATE(double)
#undef MOTES_INSTANTIATE

}  // namespace motes::matching::detail
