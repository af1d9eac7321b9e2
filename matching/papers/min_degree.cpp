// The minimum degree heuristic on both sides: of all vertices, one with the fewest live neighbours takes the
// one of them that has the fewest itself. It continues where Karp & Sipser's rule stops, at degree two and
// above, and loses fewer pairs; it is sequential. Vertices wait in one list per degree, rows before columns
// in the numbering, so that taking the least and moving down by one are both O(1).

#include <algorithm>

#include <motes/base/index.h>

#include "matching/init/starts.h"

namespace motes::matching {
namespace {

/// Rows are 0..rows-1, columns rows..rows+cols-1: up to 2^32 - 2 of them.
using Vertex = std::uint32_t;
constexpr Vertex kNone = ~Vertex{0};

/// Doubly linked lists of vertices by degree.
class DegreeLists {
 public:
  explicit DegreeLists(std::vector<Index> degrees)
      : degree_(std::move(degrees)), next_(degree_.size(), kNone), previous_(degree_.size(), kNone) {
    const Index most = degree_.empty() ? 0 : *std::max_element(degree_.begin(), degree_.end());
    head_.assign(at(most) + 1, kNone);
  }

  Index degree(Vertex v) const { return degree_[v]; }

  void insert(Vertex v) {
    Vertex& head = head_[at(degree_[v])];
    next_[v] = head;
    previous_[v] = kNone;
    if (head != kNone) previous_[head] = v;
    head = v;
    least_ = std::min(least_, degree_[v]);
  }
  void remove(Vertex v) {
    if (previous_[v] == kNone)
      head_[at(degree_[v])] = next_[v];
    else
      next_[previous_[v]] = next_[v];
    if (next_[v] != kNone) previous_[next_[v]] = previous_[v];
  }
  void move_down(Vertex v) {
    remove(v);
    --degree_[v];
    insert(v);
  }
  /// A vertex of least degree, but not of degree 0; kNone when there is none.
  Vertex least() {
    least_ = std::max<Index>(least_, 1);
    while (at(least_) < head_.size() && head_[at(least_)] == kNone) ++least_;
    return at(least_) < head_.size() ? head_[at(least_)] : kNone;
  }

 private:
  std::vector<Index> degree_;
  std::vector<Vertex> next_, previous_, head_;
  Index least_ = 0;
};

}  // namespace

std::vector<Index> start_min_degree(const Execution& execution, const CardinalityProblem& problem,
                                    std::uint64_t seed) {
  const auto& graph = problem.graph;
  Transposed made;
  auto col_offsets = problem.col_offsets;
  auto row_index = problem.row_index;
  if (col_offsets.empty()) {
    made = transpose(graph, detail::threads_for(execution, graph.rows));
    col_offsets = made.col_offsets;
    row_index = made.row_index;
  }
  const auto rows = static_cast<Vertex>(graph.rows), all = rows + static_cast<Vertex>(graph.cols);
  // Of a row, its columns as vertices; of a column, its rows.
  const auto for_neighbours = [&](Vertex v, const auto& visit) {
    const bool is_row = v < rows;
    const std::size_t k = is_row ? v : v - rows;
    const auto& offsets = is_row ? graph.row_offsets : col_offsets;
    const auto& list = is_row ? graph.col_index : row_index;
    for (Offset e = offsets[k]; e < offsets[k + 1]; ++e)
      visit(static_cast<Vertex>(list[at(e)]) + (is_row ? rows : 0));
  };

  std::vector<Index> degrees(all);
  for (Vertex v = 0; v < all; ++v) {
    const std::size_t k = v < rows ? v : v - rows;
    const auto& offsets = v < rows ? graph.row_offsets : col_offsets;
    degrees[v] = static_cast<Index>(offsets[k + 1] - offsets[k]);
  }
  DegreeLists lists(std::move(degrees));
  // Lists are last in, first out: inserting backwards takes rows in their order where degrees are equal.
  for (Vertex v = all; v > rows; --v) lists.insert(v - 1);
  const detail::VisitOrder order(graph.rows, seed);
  for (Index k = graph.rows; k > 0; --k) lists.insert(static_cast<Vertex>(order(k - 1)));

  std::vector<bool> gone(all, false);
  std::vector<Index> row_to_col(rows, -1);
  for (Vertex v = lists.least(); v != kNone; v = lists.least()) {
    Vertex mate = kNone;
    for_neighbours(v, [&](Vertex w) {
      if (!gone[w] && (mate == kNone || lists.degree(w) < lists.degree(mate))) mate = w;
    });
    const Vertex row = std::min(v, mate), col = std::max(v, mate) - rows;
    row_to_col[row] = static_cast<Index>(col);
    for (const Vertex pair : {v, mate}) {
      gone[pair] = true;
      lists.remove(pair);
    }
    for (const Vertex pair : {v, mate})
      for_neighbours(pair, [&](Vertex w) {
        if (!gone[w]) lists.move_down(w);
      });
  }
  return row_to_col;
}

}  // namespace motes::matching
