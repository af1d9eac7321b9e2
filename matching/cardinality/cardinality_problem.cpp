/// Checks and the transpose of graphs.

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {
namespace {

void check_lengths(const CardinalityProblem& problem) {
  const auto& graph = problem.graph;
  if (graph.rows < 0 || graph.cols < 0)
    throw std::invalid_argument("graph: negative number of rows or columns");
  const auto offsets = [](std::size_t found, Index vertices, const char* name) {
    if (found != at(vertices) + 1)
      throw std::invalid_argument(std::string("graph: ") + name + " has " + std::to_string(found) +
                                  " entries, not " + std::to_string(at(vertices) + 1));
  };
  offsets(graph.row_offsets.size(), graph.rows, "row_offsets");
  if (problem.col_offsets.empty()) {
    if (!problem.row_index.empty())
      throw std::invalid_argument("graph: row_index is given, but col_offsets is not");
    return;
  }
  offsets(problem.col_offsets.size(), graph.cols, "col_offsets");
  if (problem.row_index.size() != graph.col_index.size())
    throw std::invalid_argument("graph: row_index has " + std::to_string(problem.row_index.size()) +
                                " entries, not one per edge (" + std::to_string(graph.edges()) + ")");
}

/// An edge that is being sorted to its column.
struct Edge {
  Index row, col;
};

/// The shift for ranges of 2^shift columns: enough ranges for all threads, few enough that the lines to which
/// they are written stay in cache, and small enough that the counters of one range do.
int range_shift(Index cols, int threads) {
  constexpr int kColumnsInCache = 15, kMostRanges = 1024;
  int shift = kColumnsInCache;
  while ((cols >> shift) >= kMostRanges) ++shift;
  while (threads > 1 && shift > 0 && (cols >> shift) < 4 * threads) --shift;
  return shift;
}

}  // namespace

// Two sweeps that keep the order of rows: edges are distributed to ranges of columns, each thread's rows into
// its own part of every range; then each range is sorted by column, by counting. Where an edge lands depends
// on the graph alone.
Transposed transpose(const BipartiteGraphView& graph, int threads) {
  const Index rows = graph.rows, cols = graph.cols;
  const Offset edges = graph.edges();
  const int shift = range_shift(cols, threads);
  const int ranges = (cols >> shift) + 1, parts = threads;
  const auto first_row = [&](int part) { return static_cast<Index>(Offset{rows} * part / parts); };

  std::vector<Offset> begin(at(ranges) * at(parts) + 1, 0);  // of a part of a range, range by range
  const auto cell = [&](int range, int part) { return at(range) * at(parts) + at(part); };
  parallel_for(threads, parts, [&](std::int64_t p) {
    const int part = static_cast<int>(p);
    std::vector<Offset> count(at(ranges), 0);
    for (Offset e = graph.row_offsets[at(first_row(part))]; e < graph.row_offsets[at(first_row(part + 1))];
         ++e)
      ++count[at(graph.col_index[at(e)] >> shift)];
    for (int range = 0; range < ranges; ++range) begin[cell(range, part) + 1] = count[at(range)];
  });
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];

  const auto distributed = std::make_unique_for_overwrite<Edge[]>(at(edges));
  parallel_for(threads, parts, [&](std::int64_t p) {
    const int part = static_cast<int>(p);
    std::vector<Offset> next(at(ranges));
    for (int range = 0; range < ranges; ++range) next[at(range)] = begin[cell(range, part)];
    for (Index i = first_row(part); i < first_row(part + 1); ++i)
      for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
        const Index j = graph.col_index[at(e)];
        distributed[at(next[at(j >> shift)]++)] = {i, j};
      }
  });

  Transposed out;
  out.col_offsets.resize(at(cols) + 1);
  out.row_index.resize(at(edges));
  parallel_for(threads, ranges, [&](std::int64_t r) {
    const int range = static_cast<int>(r);
    const Index low = static_cast<Index>(r << shift);
    const Index high = static_cast<Index>(std::min<Offset>((r + 1) << shift, cols));
    const Offset from = begin[cell(range, 0)], to = begin[cell(range, parts - 1) + 1];
    std::vector<Offset> next(at(high - low) + 1, 0);
    for (Offset e = from; e < to; ++e) ++next[at(distributed[at(e)].col - low) + 1];
    next[0] = from;
    for (Index j = low; j < high; ++j) {
      out.col_offsets[at(j)] = next[at(j - low)];
      next[at(j - low) + 1] += next[at(j - low)];
    }
    for (Offset e = from; e < to; ++e) {
      const Edge edge = distributed[at(e)];
      out.row_index[at(next[at(edge.col - low)]++)] = edge.row;
    }
  });
  out.col_offsets[at(cols)] = edges;
  return out;
}

void check_problem(const CardinalityProblem& problem, int threads) {
  check_lengths(problem);
  if (problem.space == Space::device) return;
  check_graph(problem.graph, threads);
  if (problem.col_offsets.empty()) return;
  if (problem.col_offsets.front() != 0 || problem.col_offsets.back() != problem.graph.edges())
    throw std::invalid_argument("graph: col_offsets must run from 0 to the number of edges");
}

}  // namespace motes::matching
