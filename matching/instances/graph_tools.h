#pragma once
/// Common parts of the generators of graphs: sorted adjacency lists, renumbering, random orders.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/for_each_task.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/random.h>
#include <motes/matching/problem.h>

namespace motes::matching::instances {

// Random streams of graphs; nothing else uses them.
inline constexpr RandomStream kFirstPoints{140}, kSecondPoints{141}, kSites{142}, kEdges{143}, kRoads{144},
    kHosts{145}, kLinks{146}, kRowOrder{147}, kColOrder{148}, kWeights{149};

struct Edge {
  Index row, col;
};

/// The rows of a graph to generate: the block of one of several ranks; by default all.
struct Part {
  int rank = 0, ranks = 1;
  Block of(Index rows) const { return block_of(rows, rank, ranks); }
  double share() const { return 1.0 / ranks; }
};

/// Throws ResourceError if a graph of that size does not fit into memory; the generator needs
/// `bytes_an_edge`.
void require_graph_memory(double rows, double edges, double bytes_an_edge);

/// The graph of the edges, without duplicates and with sorted lists; row 0 of the result is rows.first. All
/// edges must belong to those rows.
BipartiteGraph graph_of_edges(const Block& rows, Index cols, const std::vector<std::vector<Edge>>& edges,
                              int threads);

/// The graph with only these rows.
BipartiteGraph cut_rows(BipartiteGraph&& graph, const Block& rows);

/// Row k of the result is row rows_from[k] of the graph; column j becomes cols_to[j]. An empty vector changes
/// nothing.
BipartiteGraph renumbered(const BipartiteGraph& graph, const std::vector<Index>& rows_from,
                          const std::vector<Index>& cols_to, int threads);

/// A random order of 0..count-1 (Durstenfeld 1964).
std::vector<Index> random_order(Index count, std::uint64_t seed, RandomStream stream);

/// A whole number in 0..range-1 from 32 random bits; its probability is off by less than 2^-32 times range.
inline Index scaled(std::uint32_t bits, Index range) {
  return static_cast<Index>((std::uint64_t{bits} * static_cast<std::uint64_t>(range)) >> 32);
}

/// The graph whose row i, of the given ones, has the columns that list(i, columns) appends, in ascending
/// order, each once. Row 0 of the result is rows.first.
template <class List>
BipartiteGraph graph_by_rows(const Block& rows, Index cols, int threads, const List& list) {
  constexpr Index kRowsABlock = 4096;
  BipartiteGraph graph{rows.count, cols, std::vector<Offset>(at(rows.count) + 1, 0), {}};
  std::vector<std::vector<Index>> columns(at(rows.count / kRowsABlock) + 1);
  for_each_block(threads, rows.count, kRowsABlock, [&](Index begin, Index end) {
    auto& mine = columns[at(begin / kRowsABlock)];
    for (Index i = begin; i < end; ++i) {
      const std::size_t before = mine.size();
      list(rows.first + i, mine);
      graph.row_offsets[at(i) + 1] = static_cast<Offset>(mine.size() - before);
    }
  });
  for (std::size_t i = 1; i < graph.row_offsets.size(); ++i) graph.row_offsets[i] += graph.row_offsets[i - 1];
  graph.col_index.resize(at(graph.row_offsets.back()));
  for_each_block(threads, rows.count, kRowsABlock, [&](Index begin, Index) {
    auto& mine = columns[at(begin / kRowsABlock)];
    std::copy(mine.begin(), mine.end(), graph.col_index.begin() + graph.row_offsets[at(begin)]);
    std::vector<Index>().swap(mine);
  });
  return graph;
}

template <class List>
BipartiteGraph graph_by_rows(Index rows, Index cols, int threads, const List& list) {
  return graph_by_rows(Block{0, rows}, cols, threads, list);
}

}  // namespace motes::matching::instances
