#pragma once
/// The adjacency lists of a graph, read a batch at a time, either in CSR form or in ELL slots.

#include <optional>

#include "matching/cardinality/augmenting_search.h"
#include "matching/cardinality/push_relabel/ell_graph.h"

namespace motes::matching::detail {

/// Lists read in place, with the interface of EllGraph.
class CsrAdjacency {
 public:
  explicit CsrAdjacency(const TwoSidedGraph& graph) : graph_(graph), reader_(adjacency_reader()) {}

  template <class Label>
  std::int64_t offers(std::span<const Index> rows, const Label* label_of, Offers& out) const {
    std::int64_t looks = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      ask_ahead(rows.data() + k, graph_.row_offsets, graph_.col_index);
      const Offer here = offer(rows[k], label_of);
      out.col[k] = here.col, out.label[k] = here.label, out.second[k] = here.second;
      looks += graph_.row_offsets[rows[k] + 1] - graph_.row_offsets[rows[k]];
    }
    return looks;
  }
  template <class Label>
  Offer offer(Index row, const Label* label_of) const {
    return reader_.offer(graph_.cols_of(row), label_of);
  }
  template <class Take>
  void take_first(std::span<const Index> rows, const std::uint32_t*, const Take& take, Index* out) const {
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = EllGraph::first_of(graph_.cols_of(rows[k]), take);
  }
  Visit flat_cols(std::span<const Index> cols, Index* flat) const {
    Index* end = flat;
    bool longer = false;
    for (std::size_t k = 0; k < cols.size(); ++k) {
      ask_ahead(cols.data() + k, graph_.col_offsets, graph_.row_index);
      const auto rows = graph_.rows_of(cols[k]);
      end = reader_.append(rows, end);
      longer |= rows.size() > kMostSlots;
    }
    return {end - flat, longer};
  }
  std::span<const Index> rest(Index col) const {
    const auto rows = graph_.rows_of(col);
    return rows.subspan(std::min(rows.size(), kMostSlots));
  }
  const AdjacencyReader& lists() const { return reader_; }

 private:
  static void ask_ahead(const Index* vertices, const Offset* offsets, const Index* neighbours) {
    prefetch_early(offsets + vertices[kAskedAhead]);
    const Index* const list = neighbours + offsets[vertices[kAskedAhead / 2]];
    prefetch_early(list);
    prefetch_early(list + 12);  // a short list that exceeds the first line ends in this one
    prefetch_early(list + 28);  // most of a longer list
    prefetch_early(list + 40);
  }
  const TwoSidedGraph& graph_;
  const AdjacencyReader reader_;
};

/// The graph's lists, in slots if this is requested and possible.
class Layout {
 public:
  Layout(const TwoSidedGraph& graph, bool slots_allowed)
      : graph_(graph), plain_(graph), wanted_(slots_allowed && EllGraph::pay(graph)) {}

  void lay_out(CardinalityStats& stats) {
    if (!wanted_) return;
    const Timed timed(stats, "slots");
    slots_.emplace(graph_);
    wanted_ = false;
  }
  /// Calls body(EllGraph or CsrAdjacency).
  template <class Body>
  void visit(const Body& body) const {
    if (slots_)
      body(*slots_);
    else
      body(plain_);
  }

 private:
  const TwoSidedGraph& graph_;
  const CsrAdjacency plain_;
  std::optional<EllGraph> slots_;
  bool wanted_;
};

}  // namespace motes::matching::detail
