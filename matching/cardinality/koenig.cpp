/// Koenig's cover, its verification, and the Dulmage-Mendelsohn decomposition.

#include <algorithm>
#include <stdexcept>

#include <motes/base/index.h>
#include <motes/matching/koenig.h>

#include "matching/first_row.h"
#include "matching/graph_side.h"

namespace motes::matching {
namespace {

using detail::first_row;
using detail::GraphSide;

std::string name(const char* kind, Index k) { return kind + (" " + std::to_string(k)); }

/// Describes the first inconsistency of mates as a matching with `other` vertices, without a check of edges;
/// empty if there is none.
std::string fault_of_mates(const Matching& answer, Index rows, Index cols) {
  if (answer.row_to_col.size() != at(rows) || answer.col_to_row.size() != at(cols))
    return "matching has the wrong number of rows or columns";
  for (Index i = 0; i < rows; ++i) {
    const Index j = answer.row_to_col[at(i)];
    if (j == -1) continue;
    if (j < 0 || j >= cols) return name("row", i) + " is matched to no column: " + std::to_string(j);
    if (answer.col_to_row[at(j)] != i) return name("row", i) + " and " + name("column", j) + " disagree";
  }
  for (Index j = 0; j < cols; ++j) {
    const Index i = answer.col_to_row[at(j)];
    if (i == -1) continue;
    if (i < 0 || i >= rows) return name("column", j) + " is matched to no row: " + std::to_string(i);
    if (answer.row_to_col[at(i)] != j) return name("column", j) + " and " + name("row", i) + " disagree";
  }
  return {};
}

struct Reached {
  std::vector<bool> near;  ///< on the side that paths start from
  std::vector<bool> far;
};

/// Vertices on alternating paths from the free vertices of `side`.
Reached reach(const GraphSide& side, std::span<const Index> mate, std::span<const Index> mate_of_far) {
  Reached reached{std::vector<bool>(at(side.count), false), std::vector<bool>(mate_of_far.size(), false)};
  std::vector<Index> queue;
  for (Index k = 0; k < side.count; ++k)
    if (mate[at(k)] == -1) reached.near[at(k)] = true, queue.push_back(k);
  while (!queue.empty()) {
    const Index from = queue.back();
    queue.pop_back();
    for (const Index far : side.of(from)) {
      if (reached.far[at(far)]) continue;
      reached.far[at(far)] = true;
      const Index next = mate_of_far[at(far)];
      if (next == -1 || reached.near[at(next)]) continue;
      reached.near[at(next)] = true;
      queue.push_back(next);
    }
  }
  return reached;
}

void require_matching(const CardinalityProblem& problem, const Matching& answer) {
  if (problem.space == Space::device)
    throw std::invalid_argument("certificate: the problem lies on a device");
  const std::string fault = fault_of_mates(answer, problem.graph.rows, problem.graph.cols);
  if (!fault.empty()) throw std::invalid_argument("certificate: " + fault);
}

/// Marks the members, which must be distinct vertices of 0..count-1; returns a description of the first
/// fault, or an empty text.
std::string mark(std::span<const Index> members, Index count, const char* kind, std::vector<char>& marked) {
  marked.assign(at(count), 0);
  for (const Index k : members) {
    if (k < 0 || k >= count) return "cover: there is no " + name(kind, k);
    if (marked[at(k)] != 0) return "cover: " + name(kind, k) + " is counted twice";
    marked[at(k)] = 1;
  }
  return {};
}

bool has_edge(const BipartiteGraphView& graph, Index i, Index j) {
  const auto cols = detail::rows_side(graph).of(i);
  return std::binary_search(cols.begin(), cols.end(), j);
}

}  // namespace

VertexCover koenig_cover(const CardinalityProblem& problem, const Matching& answer) {
  require_matching(problem, answer);
  const Reached reached = reach(detail::rows_side(problem.graph), answer.row_to_col, answer.col_to_row);
  VertexCover cover;
  for (Index i = 0; i < problem.graph.rows; ++i)
    if (!reached.near[at(i)]) cover.rows.push_back(i);
  for (Index j = 0; j < problem.graph.cols; ++j)
    if (reached.far[at(j)]) cover.cols.push_back(j);
  return cover;
}

DulmageMendelsohn decompose(const CardinalityProblem& problem, const Matching& answer) {
  require_matching(problem, answer);
  const auto& graph = problem.graph;
  const Reached from_rows = reach(detail::rows_side(graph), answer.row_to_col, answer.col_to_row);
  for (Index j = 0; j < graph.cols; ++j)
    if (from_rows.far[at(j)] && answer.col_to_row[at(j)] == -1)
      throw std::invalid_argument("decomposition: the matching is not maximum; an augmenting path ends at " +
                                  name("column", j));
  Transposed made;
  GraphSide cols{graph.cols, problem.col_offsets, problem.row_index};
  if (problem.col_offsets.empty()) {
    made = transpose(graph, 1);
    cols.offsets = made.col_offsets;
    cols.neighbours = made.row_index;
  }
  const Reached from_cols = reach(cols, answer.col_to_row, answer.row_to_col);
  DulmageMendelsohn parts{std::vector<Part>(at(graph.rows), Part::square),
                          std::vector<Part>(at(graph.cols), Part::square)};
  for (Index i = 0; i < graph.rows; ++i) {
    if (from_rows.near[at(i)]) parts.rows[at(i)] = Part::vertical;
    if (from_cols.far[at(i)]) parts.rows[at(i)] = Part::horizontal;
  }
  for (Index j = 0; j < graph.cols; ++j) {
    if (from_rows.far[at(j)]) parts.cols[at(j)] = Part::vertical;
    if (from_cols.near[at(j)]) parts.cols[at(j)] = Part::horizontal;
  }
  return parts;
}

CardinalityCertificate verify(const CardinalityProblem& problem, const Matching& answer,
                              const VertexCover& cover, int threads) {
  const auto& graph = problem.graph;
  CardinalityCertificate found;
  const auto fail = [&](const std::string& what) {
    if (found.fault.empty()) found.fault = what;
    return false;
  };
  const auto check_matching = [&] {
    if (const std::string fault = fault_of_mates(answer, graph.rows, graph.cols); !fault.empty())
      return fail(fault);
    const Index stray = first_row(graph.rows, threads, [&](Index i) {
      const Index j = answer.row_to_col[at(i)];
      return j != -1 && !has_edge(graph, i, j);
    });
    if (stray < graph.rows)
      return fail(name("row", stray) + " and " + name("column", answer.row_to_col[at(stray)]) +
                  " are matched, but no edge joins them");
    const auto pairs = graph.rows - std::count(answer.row_to_col.begin(), answer.row_to_col.end(), -1);
    if (pairs != answer.cardinality)
      return fail("the matching has " + std::to_string(pairs) + " pairs, not " +
                  std::to_string(answer.cardinality));
    return true;
  };
  const auto check_cover = [&] {
    std::vector<char> row_in, col_in;
    if (const auto fault = mark(cover.rows, graph.rows, "row", row_in); !fault.empty()) return fail(fault);
    if (const auto fault = mark(cover.cols, graph.cols, "column", col_in); !fault.empty()) return fail(fault);
    const detail::GraphSide rows = detail::rows_side(graph);
    const auto untouched = [&](Index i) {
      if (row_in[at(i)] != 0) return Index{-1};
      for (const Index j : rows.of(i))
        if (col_in[at(j)] == 0) return j;
      return Index{-1};
    };
    const Index open = first_row(graph.rows, threads, [&](Index i) { return untouched(i) != -1; });
    if (open < graph.rows)
      return fail("cover: the edge of " + name("row", open) + " and " + name("column", untouched(open)) +
                  " is not touched");
    return true;
  };
  if (problem.space == Space::device) {
    fail("the problem lies on a device");
    return found;
  }
  found.matching_valid = check_matching();
  found.cover_valid = check_cover();
  found.same_size = cover.size() == answer.cardinality;
  if (!found.same_size)
    fail("the cover has " + std::to_string(cover.size()) + " vertices, the matching " +
         std::to_string(answer.cardinality) + " pairs");
  return found;
}

}  // namespace motes::matching
