/// The search of the alternating-tree variant on the CPU. Every round is synchronous and every tie has one
/// winner (rules.h), so that threads, which own ranges of columns, never change a bit, and the GPU
/// form (alternating_tree.cu) gives the same answer.

#include "matching/papers/hungarian/alternating_tree.h"

#include <array>

#include <motes/base/function_clones.h>
#include <motes/base/index.h>
#include <motes/base/timer.h>

#include "matching/papers/hungarian/initial_reduction.h"
#include "matching/papers/hungarian/search.h"

namespace motes::matching::detail {
namespace {

constexpr Index kTile = 512;  ///< columns whose labels a round keeps in the first-level cache

/// Offers base + cost of one row: offer[j] falls to it where it is less, or equal to one of this round and of
/// lesser rank. All in 64 bits, so that it vectorises.
MOTES_CLONES void relax(const Cost* __restrict cost, Cost base, std::int64_t row,
                        const std::int64_t* __restrict salt, Cost* __restrict offer,
                        std::int64_t* __restrict rank, Index count) {
  for (Index j = 0; j < count; ++j) {
    const Cost mine = cost[j] == kInfiniteCost ? kInfiniteCost : base + cost[j];
    const std::int64_t my_rank = (row ^ salt[j]) + 1;
    const bool take = (mine < offer[j]) | ((mine == offer[j]) & (my_rank < rank[j]));
    offer[j] = take ? mine : offer[j];
    rank[j] = take ? my_rank : rank[j];
  }
}

template <class T>
void fill(const DenseEntries<T>& e, Index i, Index begin, Index count, Cost* out) {
  const T* row = e.data + i * e.row_stride + begin * e.col_stride;
  if (e.col_stride == 1)
    for (Index j = 0; j < count; ++j) out[j] = grid_value(row[j], e.scale);
  else
    for (Index j = 0; j < count; ++j) out[j] = grid_value(row[j * e.col_stride], e.scale);
}
void fill(const GeometricEntries& e, Index i, Index begin, Index count, Cost* out) {
  for (Index j = 0; j < count; ++j) out[j] = e.at(i, begin + j);
}

template <class Entries>
class Trees {
 public:
  Trees(const Canonical<Entries>& problem, int threads)
      : problem_(problem),
        threads_(threads),
        key_(at(problem.cols), kFar),
        salt_(at(problem.cols)),
        rank_(kSparse ? at(problem.cols) : 0, 0),
        pred_(at(problem.cols), -1),
        end_key_(at(problem.rows), kFar),
        end_(at(problem.rows), -1) {
    for (Index j = 0; j < problem.cols; ++j) salt_[at(j)] = scramble(j);
  }

  Solution solve(const Start& given) {
    infeasible_ = !begin_hungarian(problem_, given, threads_, state_, stats_);
    if (!infeasible_) roots_ = first_roots(problem_, state_);
    while (!roots_.empty() && !infeasible_) {
      auto clock = std::chrono::steady_clock::now();
      const Cost rise = grow();
      stats_.seconds["forward_pass"] += seconds_since(clock);
      if (infeasible_) break;
      ++stats_.phases;
      clock = std::chrono::steady_clock::now();
      choose_exits(rise);
      stats_.seconds["reverse_pass"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      update_duals(rise);
      stats_.seconds["dual_update"] += seconds_since(clock);
      clock = std::chrono::steady_clock::now();
      augment(rise);
      stats_.seconds["augmentation_pass"] += seconds_since(clock);
    }
    return {std::move(state_.row_to_col), std::move(state_.v), infeasible_, std::move(stats_)};
  }

 private:
  static constexpr bool kSparse = std::is_same_v<Entries, SparseEntries>;

  /// A row to scan: its offer to column j is base + c_ij - v_j.
  struct Active {
    Index row;
    Cost base;
  };

  Index mate(Index col) const { return state_.col_to_row[at(col)]; }
  Cost distance(Index row) const {
    const Index col = state_.row_to_col[at(row)];
    return col == -1 ? 0 : key_[at(col)];
  }
  /// How far a row in the forest is from its exit.
  Cost exit_key(Index row, Cost d) const {
    const Cost exit = problem_.exit_of(row);
    return exit == kInfiniteCost ? kFar : std::min(kFar, d + exit - state_.u[at(row)]);
  }

  /// Forward pass: labels grow, band after band, until enough trees have ends. Returns by how much the
  /// roots' duals rise.
  Cost grow() {
    for (const Index j : labelled_) key_[at(j)] = kFar;
    labelled_.clear();
    nearest_exit_ = collision_ = kFar;
    trees_ended_ = 0;
    last_end_ = 0;
    frontier_.clear();
    for (const Index i : roots_) {
      frontier_.push_back({i, -state_.u[at(i)]});
      end_key_[at(i)] = kFar;
      end_[at(i)] = -1;
      nearest_exit_ = std::min(nearest_exit_, exit_key(i, 0));
    }
    band_.reach = 0;
    band_.scanned = 0;
    for (Cost closed = -1;;) {
      while (!frontier_.empty()) {
        ++stats_.rounds;
        band_.scanned += static_cast<std::int64_t>(frontier_.size());
        scan();
      }
      const Cost nearest = close(closed);
      const Cost limit = problem_.perfect ? kFar : std::min(nearest_exit_, collision_);
      const bool exhausted = nearest >= kFar;
      const bool enough = trees_ended_ >= trees_wanted(static_cast<std::int64_t>(roots_.size()));
      if (!problem_.perfect && limit < kFar && (limit <= band_.reach || limit <= nearest)) return limit;
      if (enough || (exhausted && trees_ended_ > 0)) return last_end_;
      if (exhausted) {
        infeasible_ = true;
        return 0;
      }
      closed = band_.reach;
      band_.advance(nearest, limit);
      for (const Index j : labelled_)
        if (key_[at(j)] > closed && key_[at(j)] <= band_.reach && mate(j) != -1)
          frontier_.push_back({mate(j), key_[at(j)] - state_.u[at(mate(j))]});
    }
  }

  /// One round: every row of the frontier makes its offers; the columns whose labels fell make the next.
  void scan() {
    std::int64_t work = 0;
    for (const Active& a : frontier_) work += length_of(problem_.entries, a.row);
    const Index tile =
        kSparse ? std::max<Index>(problem_.cols / threads_ + 1, work < 50'000 ? problem_.cols : 1) : kTile;
    const auto tiles = at((problem_.cols + tile - 1) / std::max<Index>(tile, 1));
    if (outcome_.size() < tiles) outcome_.resize(tiles);
    over_range(threads_, problem_.cols, work, tile, [&](Index begin, Index end) {
      Outcome& out = outcome_[at(begin / tile)];
      out.next.clear();
      out.labelled.clear();
      if constexpr (kSparse)
        scan_sparse(begin, end, out);
      else
        scan_dense(begin, end, out);
    });
    frontier_.clear();
    for (std::size_t k = 0; k < tiles; ++k) {
      frontier_.insert(frontier_.end(), outcome_[k].next.begin(), outcome_[k].next.end());
      labelled_.insert(labelled_.end(), outcome_[k].labelled.begin(), outcome_[k].labelled.end());
    }
  }

  struct Outcome {
    std::vector<Active> next;
    std::vector<Index> labelled, touched;
  };

  void scan_dense(Index begin, Index end, Outcome& out) {
    std::array<Cost, kTile> cost, offer;
    std::array<std::int64_t, kTile> rank{};
    const Index count = end - begin;
    for (Index j = begin; j < end; ++j)
      offer[at(j - begin)] = key_[at(j)] == kFar ? kFar : key_[at(j)] + state_.v[at(j)];
    for (const Active& a : frontier_) {
      fill(problem_.entries, a.row, begin, count, cost.data());
      relax(cost.data(), a.base, a.row, salt_.data() + begin, offer.data(), rank.data(), count);
    }
    for (Index j = begin; j < end; ++j)
      if (rank[at(j - begin)] != 0)
        label(j, offer[at(j - begin)] - state_.v[at(j)], rank[at(j - begin)], out);
  }

  void scan_sparse(Index begin, Index end, Outcome& out) {
    out.touched.clear();
    if (offer_.size() < key_.size()) offer_.resize(key_.size());
    for (const Active& a : frontier_)
      for_columns(problem_.entries, a.row, begin, end, [&](Index j, Cost c) {
        const Cost mine = a.base + c - state_.v[at(j)];
        const std::int64_t my_rank = rank_of(a.row, static_cast<std::uint32_t>(salt_[at(j)]));
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
    if (key <= band_.reach && mate(j) != -1) out.next.push_back({mate(j), key - state_.u[at(mate(j))]});
  }

  /// Labels in (closed, reach] are final: which ends did they bring? Returns the nearest label beyond.
  Cost close(Cost closed) {
    Cost nearest = kFar;
    for (const Index j : labelled_) {
      const Cost key = key_[at(j)];
      if (key > band_.reach) nearest = std::min(nearest, key);
      if (key > band_.reach || key <= closed) continue;
      if (mate(j) != -1) {
        nearest_exit_ = std::min(nearest_exit_, exit_key(mate(j), key));
        continue;
      }
      const Index root = root_of(state_, pred_, pred_[at(j)]);
      Cost& end_key = end_key_[at(root)];
      trees_ended_ += end_key == kFar;
      if (end_key != kFar) collision_ = std::min(collision_, std::max(key, end_key));
      if (key < end_key || (key == end_key && j < end_[at(root)])) end_key = key, end_[at(root)] = j;
    }
    for (const Index i : roots_)
      if (end_key_[at(i)] != kFar) last_end_ = std::max(last_end_, end_key_[at(i)]);
    return nearest;
  }

  /// Exits at distance `rise`: each ends its tree, if that has no nearer end.
  void choose_exits(Cost rise) {
    if (problem_.perfect || nearest_exit_ != rise) return;
    const auto offer = [&](Index row) {
      if (exit_key(row, distance(row)) != rise) return;
      const Index root = root_of(state_, pred_, row);
      if (end_key_[at(root)] <= rise && end_[at(root)] < problem_.cols) return;
      end_key_[at(root)] = rise;
      // Rows follow the columns' numbers.
      const Index code = end_[at(root)] < problem_.cols ? -1 : end_[at(root)] - problem_.cols;
      if (code == -1 || row < code) end_[at(root)] = problem_.cols + row;
    };
    for (const Index i : roots_) offer(i);
    for (const Index j : labelled_)
      if (key_[at(j)] <= rise && mate(j) != -1) offer(mate(j));
  }

  /// Where no dual has a fixed level (perfect), everything beyond the forest moves instead of the roots: the
  /// duals then stay as near to zero as the costs let them.
  void update_duals(Cost rise) {
    if (rise == 0) return;
    if (problem_.perfect) {
      for (Index j = 0; j < problem_.cols; ++j) {
        const Cost by = std::min(rise, key_[at(j)]);
        state_.v[at(j)] += by;
        if (mate(j) != -1) state_.u[at(mate(j))] -= by;
      }
      return;
    }
    for (const Index i : roots_) state_.u[at(i)] += rise;
    for (const Index j : labelled_) {
      if (key_[at(j)] >= rise) continue;
      state_.v[at(j)] -= rise - key_[at(j)];
      if (mate(j) != -1) state_.u[at(mate(j))] += rise - key_[at(j)];
    }
  }

  void augment(Cost rise) {
    std::int64_t gained = 0;
    std::vector<Index> left;
    for (const Index root : roots_) {
      const Index end = end_[at(root)];
      if (end == -1 || end_key_[at(root)] > rise) {
        left.push_back(root);
        continue;
      }
      ++stats_.augmentations;
      Index col = end;
      if (end >= problem_.cols) {  // that row leaves; the column it held becomes the path's end
        Index& held = state_.row_to_col[at(end - problem_.cols)];
        col = held;
        held = -1;
      } else {
        ++gained;
      }
      flip_path(state_, pred_, col);
    }
    roots_.swap(left);
    stats_.assignments.push_back(gained);
  }

  const Canonical<Entries>& problem_;
  int threads_;
  StartState state_;
  std::vector<Cost> key_;           ///< [cols] distance from the nearest root, kFar: not labelled
  std::vector<std::int64_t> salt_;  ///< [cols] scramble(j)
  std::vector<std::int64_t> rank_;  ///< [cols] sparse: rank of this round's offer, 0: none yet
  std::vector<Cost> offer_;         ///< [cols] sparse: this round's best offer
  std::vector<Index> pred_;         ///< [cols] the row that gave the label
  std::vector<Index> labelled_;     ///< columns with a label
  std::vector<Cost> end_key_;       ///< [rows] of a root: distance of its tree's nearest end
  std::vector<Index> end_;          ///< [rows] that end: a free column, or cols + a row that leaves; -1: none
  std::vector<Active> frontier_;
  std::vector<Outcome> outcome_;
  std::vector<Index> roots_;
  Band band_;
  Cost nearest_exit_ = kFar;  ///< of the final labels' rows
  Cost collision_ = kFar;     ///< nearest end of a tree that has a nearer one
  Cost last_end_ = 0;         ///< farthest of the trees' nearest ends
  std::int64_t trees_ended_ = 0;
  bool infeasible_ = false;
  Stats stats_;
};

}  // namespace

template <class Entries>
Solution solve_by_trees(const Execution& execution, const Canonical<Entries>& problem, const Start& start) {
  return Trees<Entries>(problem, thread_count(execution)).solve(start);
}

template Solution solve_by_trees(const Execution&, const Canonical<SparseEntries>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<std::int32_t>>&,
                                 const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<std::int64_t>>&,
                                 const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<float>>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<DenseEntries<double>>&, const Start&);
template Solution solve_by_trees(const Execution&, const Canonical<GeometricEntries>&, const Start&);

}  // namespace motes::matching::detail
