/// Selection from a matrix in one pass. A row's pairs: those whose entries lie up to a limit, which is the
/// limit of the row before as long as that suits, else guessed from a sample of the row. A column's pairs: a
/// short list of its least entries so far, one set of lists a thread, united at the end. Rows are visited in
/// a scattered order, so that a list improves only some ln(rows) times its length, whatever order the matrix
/// has; rows that come first win ties, by that order, so that the lists do not depend on the threads.

#include "matching/assignment/core_selection.h"

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>

#include "matching/detail/canonical.h"
#include "matching/detail/row_keys.h"
#include "matching/parallel_for.h"

namespace motes::matching::detail {
namespace {

constexpr Offset kMostFactor = 4;  ///< times `wanted`: more pairs, through ties or a bad sample, are cut
constexpr Index kRowsPerTask = 64;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
std::size_t at(Offset e) { return static_cast<std::size_t>(e); }

bool by_column(const CorePair& a, const CorePair& b) { return a.col < b.col; }

/// Pairs of a row by rising column, and the bound: every pair that costs no more is among them.
struct RowCore {
  std::vector<CorePair> pairs;
  Cost bound = 0;
};

/// The order in which rows are visited: all of them, far from any that the matrix may have.
class ScatteredOrder {
 public:
  explicit ScatteredOrder(Index rows) : rows_(rows), step_(Offset{rows} * 618034 / 1000000) {
    step_ = std::max<Offset>(step_, 1);
    while (std::gcd(step_, Offset{rows_}) != 1) ++step_;
  }
  Index row_at(Offset rank) const { return static_cast<Index>(rank * step_ % rows_); }

 private:
  Index rows_;
  Offset step_;
};

/// The least entries of every column among the rows that one thread visited.
template <class T>
class ColumnLists {
 public:
  struct Item {
    T key;
    Index rank;
    bool operator<(const Item& other) const { return key != other.key ? key < other.key : rank < other.rank; }
  };

  ColumnLists(Index cols, Index length)
      : length_(length),
        limit_(at(cols), kForbidden),
        items_(at(cols) * at(length), Item{kForbidden, std::numeric_limits<Index>::max()}) {}

  /// [cols] entries below these join their column's list.
  const T* limit() const { return limit_.data(); }

  void add(Index col, T key, Index rank) {
    Item* items = list(col);
    Item* worst = std::max_element(items, items + length_);
    *worst = {key, rank};
    limit_[at(col)] = std::max_element(items, items + length_)->key;
  }
  Item* list(Index col) { return items_.data() + at(col) * at(length_); }

  static constexpr T kForbidden = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                       : std::numeric_limits<T>::max();

 private:
  Index length_;
  std::vector<T> limit_;
  std::vector<Item> items_;
};

/// Picks rows' first pairs; one of these a task, for its scratch.
template <class T>
class RowSelector {
 public:
  using Entries = DenseEntries<T>;
  RowSelector(const Entries& entries, Offset wanted)
      : entries_(entries), wanted_(wanted), hit_(at(entries.cols)) {}

  /// Reads the row once from memory, and again only from the cache. Entries that go on a column's list are
  /// handed to it.
  RowScan<T> select(Index row, Index rank, ColumnLists<T>* columns, RowCore& out) {
    const T* key = row_keys(entries_, row, buffer_);
    if (!has_last_) set_last(sampled_limit(key));
    const RowScan<T> scan = scan_row(instructions_, key, entries_.cols, last_,
                                     columns == nullptr ? nullptr : columns->limit(), hit_.data());
    if (scan.bad) return scan;  // there will be no core
    take_hits(row, key, scan.hits, columns, rank, out);
    if (suits(out)) return scan;
    set_last(sampled_limit(key));
    take_up_to(row, key, out);
    if (suits(out)) return scan;
    set_last(exact_limit(key));
    take_up_to(row, key, out);
    has_last_ = false;
    if (static_cast<Offset>(out.pairs.size()) <= kMostFactor * wanted_) return scan;
    cut_ties(row, out);
    std::sort(out.pairs.begin(), out.pairs.end(), by_column);
    return scan;
  }

 private:
  void set_last(T limit) {
    last_ = std::min(limit, kLastKey<T>);
    has_last_ = true;
  }

  bool suits(const RowCore& out) const {
    const auto count = static_cast<Offset>(out.pairs.size());
    return count <= kMostFactor * wanted_ && (count >= wanted_ / 2 || out.bound == kBoundOfAll);
  }

  /// From evenly spaced places of the row, about eight of them below the limit. NaN cannot be sorted: it
  /// counts as forbidden here, and is found by the pass.
  T sampled_limit(const T* key) {
    const Offset cols = entries_.cols, size = std::min(cols, std::max<Offset>(256, 8 * cols / wanted_));
    sample_.clear();
    for (Offset k = 0; k < size; ++k) {
      const T value = key[k * cols / size];
      sample_.push_back(value <= kLastKey<T> ? value : ColumnLists<T>::kForbidden);
    }
    return ranked(std::min(size - 1, size * wanted_ / cols));
  }

  /// The limit that `wanted` pairs meet exactly, ties apart.
  T exact_limit(const T* key) {
    sample_.assign(key, key + entries_.cols);
    return ranked(std::min<Offset>(wanted_, entries_.cols) - 1);
  }

  T ranked(Offset rank) {
    std::nth_element(sample_.begin(), sample_.begin() + rank, sample_.end());
    return sample_[at(rank)];
  }

  void take_hits(Index row, const T* key, Index hits, ColumnLists<T>* columns, Index rank, RowCore& out) {
    out.pairs.clear();
    for (Index k = 0; k < hits; ++k) {
      const Index j = hit_[at(k)];
      if (key[j] <= last_) out.pairs.push_back({j, entries_.at(row, j)});
      if (columns != nullptr && key[j] < columns->limit()[j]) columns->add(j, key[j], rank);
    }
    set_bound(out);
  }

  void take_up_to(Index row, const T* key, RowCore& out) {
    const Index hits = scan_row<T>(instructions_, key, entries_.cols, last_, nullptr, hit_.data()).hits;
    take_hits(row, key, hits, nullptr, 0, out);
  }

  /// Entries of equal cost may lie on both sides of the limit, so that only pairs cheaper than the one at
  /// the limit are surely all among those taken.
  void set_bound(RowCore& out) const {
    Cost highest = -kBoundOfAll;
    for (const CorePair& pair : out.pairs) highest = std::max(highest, pair.cost);
    out.bound = last_ == kLastKey<T> ? kBoundOfAll : highest - 1;
  }

  /// Where ties at the limit are more than the core can take: all that is cheaper, and those that come first
  /// from a place of the row's own, so that rows do not all compete for the same columns.
  void cut_ties(Index row, RowCore& out) {
    const auto dearest =
        std::max_element(out.pairs.begin(), out.pairs.end(), [](const CorePair& a, const CorePair& b) {
          return a.cost < b.cost;
        })->cost;
    const auto ties = std::partition(out.pairs.begin(), out.pairs.end(),
                                     [&](const CorePair& p) { return p.cost < dearest; });
    const auto below = static_cast<std::size_t>(ties - out.pairs.begin());
    const auto place = static_cast<Index>((static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U >> 32) %
                                          static_cast<std::uint64_t>(entries_.cols));
    std::sort(ties, out.pairs.end(), [&](const CorePair& a, const CorePair& b) {
      return (a.col < place) != (b.col < place) ? b.col < place : a.col < b.col;
    });
    out.pairs.resize(std::max(below, at(wanted_)));
    out.bound = dearest - 1;
  }

  const Entries& entries_;
  Offset wanted_;
  Instructions instructions_ = best_instructions();
  std::vector<Index> hit_;
  std::vector<T> buffer_, sample_;
  T last_{};
  bool has_last_ = false;
};

/// One CSR graph of what the rows chose and what the columns chose.
void assemble(const std::vector<RowCore>& rows, const std::vector<std::vector<CorePair>>& of_columns,
              SparseCosts& core) {
  std::size_t edges = 0;
  for (const RowCore& row : rows) edges += row.pairs.size();
  for (const auto& pairs : of_columns) edges += pairs.size();
  core.graph.col_index.reserve(edges);
  core.cost.reserve(edges);
  core.graph.row_offsets.reserve(rows.size() + 1);
  std::vector<CorePair> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<CorePair>* pairs = &rows[i].pairs;
    if (!of_columns.empty() && !of_columns[i].empty()) {
      all.clear();
      std::set_union(pairs->begin(), pairs->end(), of_columns[i].begin(), of_columns[i].end(),
                     std::back_inserter(all), by_column);
      pairs = &all;
    }
    for (const CorePair& pair : *pairs) {
      core.graph.col_index.push_back(pair.col);
      core.cost.push_back(pair.cost);
    }
    core.graph.row_offsets.push_back(core.graph.edges());
  }
}

/// Unites the threads' lists; pairs by row, rising columns within a row.
template <class T>
std::vector<std::vector<CorePair>> column_pairs(const DenseEntries<T>& entries,
                                                const std::vector<std::unique_ptr<ColumnLists<T>>>& lists,
                                                Index length, const ScatteredOrder& order,
                                                std::vector<Cost>& bound) {
  std::vector<std::vector<CorePair>> out(at(entries.rows));
  bound.resize(at(entries.cols));
  std::vector<typename ColumnLists<T>::Item> items;
  for (Index j = 0; j < entries.cols; ++j) {
    items.clear();
    for (const auto& one : lists)
      if (one) items.insert(items.end(), one->list(j), one->list(j) + length);
    std::sort(items.begin(), items.end());
    bound[at(j)] = kBoundOfAll;
    for (Index k = 0; k < length && items[at(k)].key != ColumnLists<T>::kForbidden; ++k) {
      const Index row = order.row_at(items[at(k)].rank);
      const Cost cost = entries.at(row, j);
      out[at(row)].push_back({j, cost});
      if (k + 1 == length) bound[at(j)] = cost - 1;
    }
  }
  return out;
}

template <class T>
CoreSelection select_from_matrix(const Execution& execution, const DenseEntries<T>& entries, Offset wanted,
                                 Index of_columns) {
  if (entries.rows == 0 || entries.cols == 0) return {};
  const int threads = thread_count(execution);
  const ScatteredOrder order(entries.rows);
  std::vector<RowCore> rows(at(entries.rows));
  std::vector<std::unique_ptr<ColumnLists<T>>> lists(static_cast<std::size_t>(threads));
  std::vector<T> largest(lists.size(), 0);
  std::vector<char> bad(lists.size(), 0);
  const Index tasks = (entries.rows + kRowsPerTask - 1) / kRowsPerTask;
  parallel_for(threads, tasks, [&](std::int64_t task) {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
    if (of_columns > 0 && !lists[me]) lists[me] = std::make_unique<ColumnLists<T>>(entries.cols, of_columns);
    RowSelector<T> selector(entries, wanted);
    const Index begin = static_cast<Index>(task) * kRowsPerTask,
                end = std::min<Index>(entries.rows, begin + kRowsPerTask);
    for (Index rank = begin; rank < end && !bad[me]; ++rank) {
      const Index i = order.row_at(rank);
      const RowScan<T> scan = selector.select(i, rank, lists[me].get(), rows[at(i)]);
      largest[me] = std::max(largest[me], scan.largest);
      bad[me] = scan.bad;
    }
  });
  CoreSelection out;
  out.core.graph.rows = entries.rows;
  out.core.graph.cols = entries.cols;
  out.largest = static_cast<double>(*std::max_element(largest.begin(), largest.end()));
  out.bad = std::find(bad.begin(), bad.end(), 1) != bad.end();
  if (out.bad) return out;
  std::vector<std::vector<CorePair>> extra;
  if (of_columns > 0) extra = column_pairs(entries, lists, of_columns, order, out.col_bound);
  assemble(rows, extra, out.core);
  out.bound.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.bound[i] = rows[i].bound;
  return out;
}

}  // namespace

template <>
CoreSelection select_core(const Execution& e, const DenseEntries<std::int32_t>& m, Offset w, Index c) {
  return select_from_matrix(e, m, w, c);
}
template <>
CoreSelection select_core(const Execution& e, const DenseEntries<std::int64_t>& m, Offset w, Index c) {
  return select_from_matrix(e, m, w, c);
}
template <>
CoreSelection select_core(const Execution& e, const DenseEntries<float>& m, Offset w, Index c) {
  return select_from_matrix(e, m, w, c);
}
template <>
CoreSelection select_core(const Execution& e, const DenseEntries<double>& m, Offset w, Index c) {
  return select_from_matrix(e, m, w, c);
}

void add_pairs(SparseCosts& core, const std::vector<std::vector<CorePair>>& added) {
  SparseCosts out;
  out.graph.rows = core.graph.rows;
  out.graph.cols = core.graph.cols;
  std::size_t edges = core.cost.size();
  for (const auto& pairs : added) edges += pairs.size();
  out.graph.col_index.reserve(edges);
  out.cost.reserve(edges);
  for (Index i = 0; i < core.graph.rows; ++i) {
    auto next = added[at(i)].begin();
    const auto put = [&](Index col, Cost cost) {
      out.graph.col_index.push_back(col);
      out.cost.push_back(cost);
    };
    for (Offset e = core.graph.row_offsets[at(i)]; e < core.graph.row_offsets[at(i) + 1]; ++e) {
      for (; next != added[at(i)].end() && next->col < core.graph.col_index[at(e)]; ++next)
        put(next->col, next->cost);
      put(core.graph.col_index[at(e)], core.cost[at(e)]);
    }
    for (; next != added[at(i)].end(); ++next) put(next->col, next->cost);
    out.graph.row_offsets.push_back(out.graph.edges());
  }
  core = std::move(out);
}

}  // namespace motes::matching::detail
