#pragma once
/// The columns of a cost matrix with their labels in the alternating-tree search on the CPU: all columns of
/// the problem, or those of one rank. Every round is synchronous and every tie has a unique winner
/// (search_rules.h), so the result does not depend on threads, which own ranges of columns, nor on ranks.

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <motes/base/index.h>

#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/row_pairs.h"

namespace motes::matching::detail {

/// A row to scan: its offer to column j is base + c_ij - v_j.
struct Active {
  Cost base = 0;
  Offset row = 0;  ///< an index, widened so that no byte stays unwritten
};

/// Offers base + cost of one row: offer[j] falls to it where it is less, or equal to one of this round and of
/// lesser rank. All in 64 bits, so that it vectorises.
void relax(const Cost* __restrict cost, Cost base, std::int64_t row, const std::int64_t* __restrict salt,
           Cost* __restrict offer, std::int64_t* __restrict rank, Index count);

template <class T>
void fill_costs(const DenseEntries<T>& e, Index i, Index begin, Index count, Cost* out) {
  const T* row = e.data + i * e.row_stride + begin * e.col_stride;
  if (e.col_stride == 1)
    for (Index j = 0; j < count; ++j) out[j] = grid_value(row[j], e.scale);
  else
    for (Index j = 0; j < count; ++j) out[j] = grid_value(row[j * e.col_stride], e.scale);
}
inline void fill_costs(const GeometricEntries& e, Index i, Index begin, Index count, Cost* out) {
  for (Index j = 0; j < count; ++j) out[j] = e.at(i, begin + j);
}

template <class Entries>
class ColumnScan {
 public:
  /// `entries`: columns [first, first + entries.cols) of the problem, and all rows. `state`: of the whole
  /// problem; it must stay.
  ColumnScan(const Entries& entries, Index first, const StartState& state, int threads)
      : entries_(entries),
        first_(first),
        threads_(threads),
        state_(state),
        key_(at(entries.cols), kFar),
        salt_(at(entries.cols)),
        rank_(kSparse ? at(entries.cols) : 0, 0),
        pred_(at(entries.cols), -1) {
    for (Index j = 0; j < entries.cols; ++j) salt_[at(j)] = scramble(first + j);
  }

  /// Columns with a label, counted from `first`; the labels: distance from the nearest root, and the row that
  /// gave it.
  const std::vector<Index>& labelled() const { return labelled_; }
  Cost key(Index j) const { return key_[at(j)]; }
  Index pred(Index j) const { return pred_[at(j)]; }
  Index mate(Index j) const { return state_.col_to_row[at(first_ + j)]; }

  void clear_labels() {
    for (const Index j : labelled_) key_[at(j)] = kFar;
    labelled_.clear();
  }

  /// One round: every row of the frontier makes its offers; partners of the columns whose labels fell, to
  /// within `reach`, make the next.
  void scan(const std::vector<Active>& frontier, Cost reach, std::vector<Active>& next) {
    std::int64_t work = 0;
    for (const Active& a : frontier) work += length_of(entries_, static_cast<Index>(a.row));
    const Index tile =
        kSparse ? std::max<Index>(entries_.cols / threads_ + 1, work < 50'000 ? entries_.cols : 1) : kTile;
    const auto tiles = at((entries_.cols + tile - 1) / std::max<Index>(tile, 1));
    if (outcome_.size() < tiles) outcome_.resize(tiles);
    reach_ = reach;
    over_range(threads_, entries_.cols, work, tile, [&](Index begin, Index end) {
      Outcome& out = outcome_[at(begin / tile)];
      out.next.clear();
      out.labelled.clear();
      if constexpr (kSparse)
        scan_sparse(frontier, begin, end, out);
      else
        scan_dense(frontier, begin, end, out);
    });
    next.clear();
    for (std::size_t k = 0; k < tiles; ++k) {
      next.insert(next.end(), outcome_[k].next.begin(), outcome_[k].next.end());
      labelled_.insert(labelled_.end(), outcome_[k].labelled.begin(), outcome_[k].labelled.end());
    }
  }

 private:
  static constexpr bool kSparse = std::is_same_v<Entries, SparseEntries>;
  static constexpr Index kTile = 512;  ///< columns whose labels a round keeps in the first-level cache

  struct Outcome {
    std::vector<Active> next;
    std::vector<Index> labelled, touched;
  };

  Cost v(Index j) const { return state_.v[at(first_ + j)]; }

  void scan_dense(const std::vector<Active>& frontier, Index begin, Index end, Outcome& out) {
    std::array<Cost, kTile> cost, offer;
    std::array<std::int64_t, kTile> rank{};
    const Index count = end - begin;
    for (Index j = begin; j < end; ++j)
      offer[at(j - begin)] = key_[at(j)] == kFar ? kFar : key_[at(j)] + v(j);
    for (const Active& a : frontier) {
      fill_costs(entries_, static_cast<Index>(a.row), begin, count, cost.data());
      relax(cost.data(), a.base, a.row, salt_.data() + begin, offer.data(), rank.data(), count);
    }
    for (Index j = begin; j < end; ++j)
      if (rank[at(j - begin)] != 0) label(j, offer[at(j - begin)] - v(j), rank[at(j - begin)], out);
  }

  void scan_sparse(const std::vector<Active>& frontier, Index begin, Index end, Outcome& out) {
    out.touched.clear();
    if (offer_.size() < key_.size()) offer_.resize(key_.size());
    for (const Active& a : frontier)
      for_columns(entries_, static_cast<Index>(a.row), begin, end, [&](Index j, Cost c) {
        const Cost mine = a.base + c - v(j);
        const std::int64_t my_rank =
            rank_of(static_cast<Index>(a.row), static_cast<std::uint32_t>(salt_[at(j)]));
        std::int64_t& rank = rank_[at(j)];
        const Cost held = rank == 0 ? key_[at(j)] : offer_[at(j)];
        if (mine > held || (mine == held && my_rank >= rank)) return;
        if (rank == 0) out.touched.push_back(j);
        offer_[at(j)] = mine;
        rank = my_rank;
      });
    for (const Index j : out.touched) {
      label(j, offer_[at(j)], rank_[at(j)], out);
      rank_[at(j)] = 0;
    }
  }

  void label(Index j, Cost key, std::int64_t rank, Outcome& out) {
    if (key_[at(j)] == kFar) out.labelled.push_back(j);
    key_[at(j)] = key;
    pred_[at(j)] = row_of_rank(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(salt_[at(j)]));
    if (key <= reach_ && mate(j) != -1) out.next.push_back({key - state_.u[at(mate(j))], mate(j)});
  }

  const Entries entries_;
  Index first_;
  int threads_;
  const StartState& state_;
  std::vector<Cost> key_;           ///< kFar: not labelled
  std::vector<std::int64_t> salt_;  ///< scramble of the column's number in the problem
  std::vector<std::int64_t> rank_;  ///< sparse: rank of this round's offer, 0: none yet
  std::vector<Cost> offer_;         ///< sparse: this round's best offer
  std::vector<Index> pred_;
  std::vector<Index> labelled_;
  std::vector<Outcome> outcome_;
  Cost reach_ = 0;
};

}  // namespace motes::matching::detail
