#pragma once
/// Common parts of the steps of the distributed cardinality solver: owners of vertices, sets of vertices as
/// bits, and the matching in progress.

#include <cstdint>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/index.h>
#include <motes/matching/distributed_cardinality.h>

namespace motes::matching::detail {

/// The inverse of block_of.
class Owners {
 public:
  Owners(Index count, int ranks)
      : each_(count / ranks), more_(count % ranks), border_(Offset{more_} * (Offset{each_} + 1)) {}
  int of(Index k) const {
    return static_cast<int>(k < border_ ? k / (each_ + 1)
                                        : more_ + static_cast<Index>((k - border_) / each_));
  }

 private:
  Index each_, more_;
  Offset border_;  ///< of the blocks with one element more
};

/// A set of vertices of the whole graph, one bit each.
class VertexSet {
 public:
  explicit VertexSet(Index count) : words_(at(count) / 64 + 1, 0) {}
  bool contains(Index k) const { return (words_[at(k) / 64] >> (at(k) % 64) & 1) != 0; }
  /// False if it was there.
  bool insert(Index k) {
    std::uint64_t& word = words_[at(k) / 64];
    const std::uint64_t bit = std::uint64_t{1} << (at(k) % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }
  void clear() { words_.assign(words_.size(), 0); }

 private:
  std::vector<std::uint64_t> words_;
};

/// The mates of this rank's vertices. Vertices are numbered from 0 here, their mates as in the whole graph.
struct DistributedState {
  DistributedState(Communicator& communicator, const DistributedGraph& distributed)
      : ranks(communicator),
        graph(distributed),
        row_owners(distributed.rows, communicator.size()),
        col_owners(distributed.cols, communicator.size()),
        row_to_col(at(distributed.my_rows.count), -1),
        col_to_row(at(distributed.my_cols.count), -1) {}

  bool my_row(Index row) const { return is_in(row, graph.my_rows); }
  bool my_col(Index col) const { return is_in(col, graph.my_cols); }
  Index& mate_of_row(Index row) { return row_to_col[at(row - graph.my_rows.first)]; }
  Index& mate_of_col(Index col) { return col_to_row[at(col - graph.my_cols.first)]; }
  std::span<const Index> cols_of(Index row) const {
    const std::size_t k = at(row - graph.my_rows.first);
    return {graph.part.col_index.data() + graph.part.row_offsets[k],
            graph.part.col_index.data() + graph.part.row_offsets[k + 1]};
  }

  Communicator& ranks;
  const DistributedGraph& graph;
  Owners row_owners, col_owners;
  std::vector<Index> row_to_col, col_to_row;

 private:
  static bool is_in(Index k, const Block& block) {
    return static_cast<std::uint32_t>(k) - static_cast<std::uint32_t>(block.first) <
           static_cast<std::uint32_t>(block.count);
  }
};

/// The messages of a round, a list for each receiving rank.
template <class Message>
class Mail {
 public:
  explicit Mail(Communicator& ranks) : ranks_(ranks), out_(at(ranks.size())) {}
  void send(int rank, const Message& message) { out_[at(rank)].push_back(message); }
  void send_to_others(const Message& message) {
    for (int k = 0; k < ranks_.size(); ++k)
      if (k != ranks_.rank()) send(k, message);
  }
  /// Sends the collected messages, and calls take(message) for each received one. False if no rank sent
  /// anything or has work `left`.
  template <class Take>
  bool exchange(const Take& take, std::int64_t left = 0) {
    std::int64_t sent = left;
    for (const auto& list : out_) sent += std::ssize(list);
    const std::int64_t all = ranks_.exchange<Message>(out_, in_, sent);
    for (auto& list : out_) list.clear();
    for (const Message& message : in_) take(message);
    ++rounds_;
    return all > 0;
  }
  std::int64_t rounds() const { return rounds_; }

 private:
  Communicator& ranks_;
  std::vector<std::vector<Message>> out_;
  std::vector<Message> in_;
  std::int64_t rounds_ = 0;
};

/// The start: a maximum matching of this rank's rows with its columns, without a message. Returns its pairs.
std::int64_t match_own_columns(DistributedState& state);

/// Free rows propose to columns of other ranks until none of them has a free neighbour.
void match_other_columns(DistributedState& state);

/// Matches most of the remaining rows that can be matched, by push-relabel.
void push_distributed_rows(DistributedState& state, CardinalityStats& stats);

/// Augments until the matching is maximum, and fills the cover of `answer` and its counters.
void grow_distributed_forest(DistributedState& state, DistributedMatching& answer);

}  // namespace motes::matching::detail
