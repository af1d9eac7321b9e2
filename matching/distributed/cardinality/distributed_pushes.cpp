/// Push-relabel over ranks, for the last free rows: where the trees that reach them cover most of the graph
/// (gated particles), each of dozens of phases would search all of it again.
///
/// Source: Kaya, Langguth, Manne & Ucar, "Push-relabel based algorithms for the maximum transversal problem",
/// 2013; Langguth, Patwary & Manne, "Parallel algorithms for bipartite matching problems on distributed
/// memory computers", 2011, for bids over ranks.
///
/// A column's label estimates its distance from a free column, counted in matched edges. A free row takes the
/// neighbour of least label, which gets a label above the second least; the displaced row continues. Columns
/// of other ranks are taken by a bid: their rank refuses it, with the label that the column has now, if that
/// is above the second least, and otherwise tells the row that it displaces. Labels of other ranks' columns
/// are those that their ranks last sent. A relabelling sets all labels by one search from the free columns.
///
/// Labels are estimates: they may be too small (out of date) or too large (the search does not wait for
/// messages of one level before it goes on with another, and they end at 65535). So a row may be given up
/// although it has an augmenting path, and the resulting matching need not be maximum. The forest
/// (distributed_forest.cpp) starts from it, finds the remaining paths, and proves that there are no more.

#include <limits>

#include "matching/cardinality/augmenting_search.h"
#include "matching/distributed/cardinality/distributed_state.h"

namespace motes::matching::detail {
namespace {

using Label = std::uint16_t;
constexpr Label kFar = std::numeric_limits<Label>::max();  ///< of a column from which none is reached
constexpr Index kNone = -1, kReached = -2;                 ///< as Found::row

/// The columns of this rank with their rows, of all ranks.
struct ColumnSide {
  std::vector<Offset> offsets;
  std::vector<Index> rows;
};

ColumnSide columns_of(DistributedState& state) {
  struct Edge {
    Index row, col;
  };
  const DistributedGraph& graph = state.graph;
  Mail<Edge> mail(state.ranks);
  ColumnSide out{std::vector<Offset>(at(graph.my_cols.count) + 1, 0), {}};
  const auto over_own = [&](const auto& use) {
    for (Index i = graph.my_rows.first; i < graph.my_rows.first + graph.my_rows.count; ++i)
      for (const Index j : state.cols_of(i)) use(i, j);
  };
  std::vector<Edge> edges;
  over_own([&](Index i, Index j) {
    if (!state.my_col(j)) mail.send(state.col_owners.of(j), {i, j});
  });
  mail.exchange([&](const Edge& edge) { edges.push_back(edge); });
  const auto local = [&](Index j) { return at(j - graph.my_cols.first); };
  const auto over_all = [&](const auto& use) {
    over_own([&](Index i, Index j) {
      if (state.my_col(j)) use(i, local(j));
    });
    for (const Edge& edge : edges) use(edge.row, local(edge.col));
  };
  over_all([&](Index, std::size_t j) { ++out.offsets[j + 1]; });
  for (std::size_t j = 1; j < out.offsets.size(); ++j) out.offsets[j] += out.offsets[j - 1];
  out.rows.resize(at(out.offsets.back()));
  std::vector<Offset> next(out.offsets.begin(), out.offsets.end() - 1);
  over_all([&](Index i, std::size_t j) { out.rows[at(next[j]++)] = i; });
  return out;
}

/// A message of the search: column `col`, adjacent to rows of the receiver, has this label; `row`, if any,
/// was reached from it. With kReached: column `col` of the receiver was reached with this label.
struct Found {
  Index row, col, label;
};

/// Row `row` bids for a column of the receiver, which gets this label; or the answer for a row of the
/// receiver: the column has this label, and is not the row's; or ~label: it is.
struct Bid {
  Index row, col, label;
};

class Pushes {
 public:
  Pushes(DistributedState& state, CardinalityStats& stats)
      : state_(state),
        stats_(stats),
        columns_(columns_of(state)),
        found_(state.ranks),
        bids_(state.ranks),
        labels_(at(state.graph.cols), kFar),
        reached_(state.graph.rows),
        told_(at(state.ranks.size()), -1) {}

  void run() {
    std::int64_t free_before = state_.ranks.all_reduce(free_rows(), Reduction::sum);
    while (true) {
      ++stats_.global_relabels;
      relabel();
      push();
      std::int64_t counts[] = {free_rows(), std::ssize(active_)};
      state_.ranks.all_reduce(counts, Reduction::sum);
      if (counts[1] == 0 || counts[0] == free_before) return;
      free_before = counts[0];
    }
  }

 private:
  std::int64_t free_rows() const {
    return std::count(state_.row_to_col.begin(), state_.row_to_col.end(), Index{-1});
  }
  Label& label(Index col) { return labels_[at(col)]; }

  void relabel() {
    const Timed timed(stats_, "relabel");
    std::fill(labels_.begin(), labels_.end(), kFar);
    reached_.clear();
    std::fill(told_.begin(), told_.end(), -1);
    frontier_.clear();
    for (Index k = 0; k < state_.graph.my_cols.count; ++k)
      if (state_.col_to_row[at(k)] == -1) reach_column(state_.graph.my_cols.first + k, 0);
    do {
      columns_in_turn_.swap(frontier_);
      frontier_.clear();
      for (const Index j : columns_in_turn_) search_from(j);
    } while (found_.exchange([&](const Found& found) { receive(found); }, std::ssize(frontier_)));
  }
  void reach_column(Index col, Index distance) {
    if (label(col) != kFar) return;
    label(col) = static_cast<Label>(std::min<Index>(distance, kFar - 1));
    frontier_.push_back(col);
  }
  void search_from(Index col) {
    const Index distance = label(col);
    const std::size_t k = at(col - state_.graph.my_cols.first);
    for (Offset e = columns_.offsets[k]; e < columns_.offsets[k + 1]; ++e) {
      const Index row = columns_.rows[at(e)];
      ++stats_.edges_traversed;
      if (state_.my_row(row)) {
        reach_row(row, distance);
        continue;
      }
      const int owner = state_.row_owners.of(row);
      const bool first = reached_.insert(row);
      if (!first && told_[at(owner)] == col) continue;
      told_[at(owner)] = col;
      found_.send(owner, {first ? row : kNone, col, distance});
    }
  }
  void reach_row(Index row, Index distance) {
    if (!reached_.insert(row)) return;
    const Index col = state_.mate_of_row(row);
    if (col == -1) return;
    if (state_.my_col(col))
      reach_column(col, distance + 1);
    else
      found_.send(state_.col_owners.of(col), {kReached, col, distance + 1});
  }
  void receive(const Found& found) {
    if (found.row == kReached) return reach_column(found.col, found.label);
    label(found.col) = static_cast<Label>(found.label);
    if (found.row != kNone) reach_row(found.row, found.label);
  }

  /// Pushes until no row is active, this rank has made its share of pushes before the next relabelling, or
  /// all have exchanged bids as often as pays (the last few rows push one column per round). Rows without a
  /// path to a free column, by their labels, are given up.
  void push() {
    const Timed timed(stats_, "push");
    active_.clear();
    for (Index k = 0; k < state_.graph.my_rows.count; ++k)
      if (state_.row_to_col[at(k)] == -1) active_.push_back(state_.graph.my_rows.first + k);
    constexpr std::int64_t kLeast = 1024, kMostRounds = 256;
    const std::int64_t rounds_before = bids_.rounds();
    std::int64_t left = std::max<std::int64_t>(kLeast, state_.graph.my_rows.count);
    std::size_t next = 0;
    do {
      if (bids_.rounds() - rounds_before > kMostRounds) left = 0;
      for (; next < active_.size() && left > 0; --left) push_row(active_[next++]);
      if (next == active_.size()) active_.clear(), next = 0;
    } while (bids_.exchange([&](const Bid& bid) { receive(bid); }, left > 0 ? std::ssize(active_) : 0));
    active_.erase(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(next));
  }
  void push_row(Index row) {
    Index least = kFar, second = kFar, col = -1;
    bool mine = false;
    for (const Index j : state_.cols_of(row)) {
      ++stats_.edges_traversed;
      const Index here = label(j);
      if (here > second || here == kFar) continue;
      const bool own = state_.my_col(j);
      if (here < least || (here == least && own && !mine)) {  // of equal ones, one that needs no message
        second = least;
        least = here;
        col = j;
        mine = own;
      } else {
        second = here;
      }
    }
    if (col == -1) return;
    ++stats_.pushes;
    const Index raised = std::min<Index>(second + 1, kFar);
    if (mine)
      take(row, col, raised);
    else
      bids_.send(state_.col_owners.of(col), {row, col, raised});
  }
  /// `row` takes `col` of this rank; the displaced row becomes free.
  void take(Index row, Index col, Index raised) {
    const Index before = std::exchange(state_.mate_of_col(col), row);
    label(col) = static_cast<Label>(raised);
    answer({row, col, ~raised});
    if (before != -1) answer({before, col, raised});
  }
  void answer(const Bid& bid) {
    if (state_.my_row(bid.row))
      hear(bid);
    else
      bids_.send(state_.row_owners.of(bid.row), bid);
  }
  void hear(const Bid& bid) {
    const bool taken = bid.label < 0;
    state_.mate_of_row(bid.row) = taken ? bid.col : -1;
    label(bid.col) = static_cast<Label>(taken ? ~bid.label : bid.label);
    if (!taken) active_.push_back(bid.row);
  }
  void receive(const Bid& bid) {
    if (!state_.my_col(bid.col)) return hear(bid);
    if (label(bid.col) < bid.label)
      take(bid.row, bid.col, bid.label);
    else
      answer({bid.row, bid.col, label(bid.col)});
  }

  DistributedState& state_;
  CardinalityStats& stats_;
  ColumnSide columns_;
  Mail<Found> found_;
  Mail<Bid> bids_;
  std::vector<Label> labels_;  ///< [all columns] of this rank's, and what was told of others
  VertexSet reached_;          ///< rows, or those of other ranks told of
  std::vector<Index> told_;    ///< [ranks] the column that it was last told of
  std::vector<Index> frontier_, columns_in_turn_;
  std::vector<Index> active_;
};

}  // namespace

void push_distributed_rows(DistributedState& state, CardinalityStats& stats) { Pushes(state, stats).run(); }

}  // namespace motes::matching::detail
