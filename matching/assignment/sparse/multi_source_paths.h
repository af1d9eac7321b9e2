#pragma once
/// Shortest augmenting paths from many rows at a time, for perfect problems on a sparse graph: used by
/// core_solver.h.

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <motes/base/stop.h>
#include <motes/matching/problem.h>

namespace motes::matching::detail {

/// A queue of distances that never fall below the last one taken (a radix heap): an entry lies in the bucket
/// of the highest bit in which it differs from that one, so that it moves down a few times at most.
class RadixQueue {
 public:
  struct Entry {
    Cost distance;
    Index item, place;
  };
  void clear();
  void push(const Entry& entry) {
    const int k = bucket_of(entry.distance);
    buckets_[k].push_back(entry);
    if (k > 0) filled_ |= std::uint64_t{1} << (k - 1);
  }
  /// Takes an entry of least distance; false if there is none.
  bool pop(Entry& out);

 private:
  int bucket_of(Cost distance) const {
    const auto differs = static_cast<std::uint64_t>(distance) ^ static_cast<std::uint64_t>(last_);
    return differs == 0 ? 0 : 64 - __builtin_clzll(differs);
  }
  std::vector<Entry> buckets_[65];
  std::uint64_t filled_ = 0;  ///< bit k: bucket k + 1 is not empty
  Cost last_ = 0;
};

/// Rows and columns of equal number, all of which must be matched, on a graph that may gain edges between
/// solves. Keeps matching and duals from one solve to the next.
class MultiSourcePaths {
 public:
  struct Counts {
    std::int64_t bids = 0, augmentations = 0, phases = 0, settled = 0;
    std::int64_t looks = 0;  ///< edges examined, in searches and forests
  };

  /// Any duals, any matching (-1: free), [size] each.
  MultiSourcePaths(std::span<const Cost> v, std::span<const Index> row_to_col);

  /// Replaces the edges by those of the graph. Pairs that are not edges or not tight are dropped. O(edges).
  void set_graph(const SparseCosts& graph);

  enum class End { matched, trapped, out_of_range, slow };
  /// Matches every row: O(rows * (edges + size log)) at worst, in practice a few passes over the edges.
  /// trapped: some rows reach no free column; see reached(). out_of_range: a dual has passed 2^60, which a
  /// core with too few edges can cause, but never the whole matrix. slow: counts().looks has passed
  /// `most_looks`; rows matched so far stay matched.
  End solve(std::int64_t most_looks = std::numeric_limits<std::int64_t>::max());

  /// After trapped: whether the last search reached this column. Rows that are free, or matched to such a
  /// column, have no edges to other columns.
  bool reached(Index col) const { return columns_[static_cast<std::size_t>(col)].stamp == settled_stamp(); }

  Index col_of(Index row) const {
    const Offset e = row_edge_[static_cast<std::size_t>(row)];
    return e == -1 ? -1 : edges_[static_cast<std::size_t>(e)].col;
  }
  Index free_rows() const { return static_cast<Index>(free_rows_.size()); }
  std::vector<Cost> v() const;
  const Counts& counts() const { return counts_; }

 private:
  struct Edge {
    Cost cost;
    Index col;
  };
  /// The data of a column that a relaxation needs, in half a cache line.
  struct Column {
    Cost v = 0, distance = 0;
    Index row = -1, via_row = -1, via_place = -1;  ///< matched row; the row and edge that reached the column
    std::uint32_t stamp = 0;                       ///< see reached_stamp
  };

  Stop stop_ = Stop::of_this_thread();
  struct Offers {
    Cost best, second;
    Offset chosen;  ///< the edge of the best, or -1
  };

  std::uint32_t reached_stamp() const { return 2 * search_; }
  std::uint32_t settled_stamp() const { return 2 * search_ + 1; }
  void new_search();
  Cost least_offer(Index row) const;
  Offers two_best(Index row) const;
  void reduce_rows();
  void bid_chain(Index row, std::int64_t& budget);
  bool few_are_left() const;
  void try_auction(const std::vector<Cost>& given);
  void find_prices();
  void auction_stage(Cost epsilon);
  void match_on_tight_edges();
  Index tight_end(Index source);
  End grow_forest(std::int64_t most_looks);
  void plant_trees();
  void enter(Index row, Index root, Cost base);
  Index nearest_column();
  bool settle(Index col);
  void lower_prices();
  void scan(Index row, Index place);
  void sort_row(Index row);
  void augment(Index source, Index col);
  void take(Index row, Index place);

  Index size_;
  std::vector<Offset> offsets_;
  std::vector<Edge> edges_;
  std::vector<Cost> key_;          ///< [edges] of rows in order: lower bounds of the offers, rising
  std::vector<char> in_order_;     ///< [rows] by rising key
  std::vector<Offset> row_edge_;   ///< [rows] matched edge, or -1
  std::vector<Column> columns_;    ///< [cols]
  std::vector<Cost> base_;         ///< [rows] in the forest: an offer o lies at distance base + o
  std::vector<Index> root_, end_;  ///< [rows] the tree's free row; the free column that the tree came to
  std::vector<Index> free_rows_, still_free_, ready_, settled_;
  std::size_t next_ready_ = 0;  ///< in ready_
  std::vector<std::pair<Edge, Cost>> scratch_;
  RadixQueue queue_;
  Cost now_ = 0;  ///< distance that the forest has grown to
  std::uint32_t search_ = 0;
  Cost lowest_v_ = 0;
  Cost epsilon_ = 0;  ///< of the last auction's last stage; 0: there was none
  bool auctions_pay_ = true;
  double mean_gap_ = 0;  ///< of rows' best and second best offer when they got their edges
  Counts counts_;
};

}  // namespace motes::matching::detail
