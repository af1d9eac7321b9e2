#include "matching/cardinality/reorder.h"

#include <numeric>

#include "matching/cardinality/search.h"

namespace motes::matching::detail {
namespace {

/// One side of the search: its vertices in the order they are met, and the lists it reads.
struct Side {
  Side(Index count, const Offset* its_offsets, const Index* its_neighbours)
      : offsets(its_offsets), neighbours(its_neighbours), new_of(at(count), -1) {
    met.reserve(at(count));
  }
  void meet(Index old) {
    new_of[at(old)] = static_cast<Index>(met.size());
    met.push_back(old);
  }

  const Offset* offsets;
  const Index* neighbours;
  std::vector<Index> new_of;  ///< [count] -1: not met yet
  std::vector<Index> met;
};

/// The lists of side.met[begin, end) in the new numbers, after those before it; neighbours not met before are
/// met now.
void expand(const Side& side, std::size_t begin, std::size_t end, Side& other, Offset* new_offsets,
            Index* out) {
  std::size_t k = begin;
  Offset filled = new_offsets[begin];
  for_each_ahead(side.met, static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), side.offsets,
                 side.neighbours, other.new_of.data(), [&](Index v) {
                   for (Offset e = side.offsets[v]; e < side.offsets[v + 1]; ++e) {
                     const Index old = side.neighbours[e];
                     if (other.new_of[at(old)] == -1) other.meet(old);
                     out[filled++] = other.new_of[at(old)];
                   }
                   new_offsets[++k] = filled;
                 });
}

std::unique_ptr<Index[]> uninitialised(Offset count) {
  return std::make_unique_for_overwrite<Index[]>(static_cast<std::size_t>(count));
}

}  // namespace

TwoSidedGraph Reordered::graph() const {
  return {static_cast<Index>(rows.size()),
          static_cast<Index>(cols.size()),
          row_offsets.data(),
          col_index.get(),
          col_offsets.data(),
          row_index.get()};
}

Mates Reordered::to_new(const Mates& mates) const {
  Mates out{std::vector<Index>(rows.size(), -1), std::vector<Index>(cols.size(), -1)};
  std::vector<Index> new_col(cols.size());
  for (std::size_t j = 0; j < cols.size(); ++j) new_col[at(cols[j])] = static_cast<Index>(j);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index old = mates.row_to_col[at(rows[i])];
    if (old == -1) continue;
    out.row_to_col[i] = new_col[at(old)];
    out.col_to_row[at(out.row_to_col[i])] = static_cast<Index>(i);
  }
  return out;
}

void Reordered::to_old(const Mates& mates, Mates& out) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index col = mates.row_to_col[i];
    out.row_to_col[at(rows[i])] = col == -1 ? -1 : cols[at(col)];
  }
  for (std::size_t j = 0; j < cols.size(); ++j) {
    const Index row = mates.col_to_row[j];
    out.col_to_row[at(cols[j])] = row == -1 ? -1 : rows[at(row)];
  }
}

bool scattered(const BipartiteGraphView& graph) {
  constexpr Index kSample = 1024;
  const Index pairs = std::min(kSample, graph.rows - 1);
  Index far = 0, seen = 0;
  for (Index k = 0; k < pairs; ++k) {
    const auto i = static_cast<std::size_t>(Offset{graph.rows - 1} * k / pairs);
    const Offset here = graph.row_offsets[i], next = graph.row_offsets[i + 1];
    if (here == next || next == graph.row_offsets[i + 2]) continue;
    ++seen;
    // Of two columns drawn at random, fifteen pairs in sixteen are farther apart than this.
    far += std::abs(graph.col_index[static_cast<std::size_t>(here)] -
                    graph.col_index[static_cast<std::size_t>(next)]) > graph.cols / 32;
  }
  return 2 * far > seen;
}

std::optional<Reordered> reorder(const TwoSidedGraph& graph) {
  Side rows(graph.rows, graph.row_offsets, graph.col_index);
  Side cols(graph.cols, graph.col_offsets, graph.row_index);
  Reordered out;
  out.row_offsets.assign(at(graph.rows) + 1, 0);
  out.col_offsets.assign(at(graph.cols) + 1, graph.edges());
  out.col_offsets[0] = 0;
  out.col_index = uninitialised(graph.edges());
  out.row_index = uninitialised(graph.edges());

  std::size_t row = 0, col = 0;  // expanded so far
  for (Index root = 0; root < graph.rows; ++root) {
    if (rows.new_of[at(root)] != -1) continue;
    rows.meet(root);
    while (row < rows.met.size()) {
      const std::size_t rows_end = rows.met.size();
      if (8 * (rows_end - row) > at(graph.rows)) return std::nullopt;
      expand(rows, row, rows_end, cols, out.row_offsets.data(), out.col_index.get());
      row = rows_end;
      const std::size_t cols_end = cols.met.size();
      expand(cols, col, cols_end, rows, out.col_offsets.data(), out.row_index.get());
      col = cols_end;
    }
  }
  for (Index j = 0; j < graph.cols; ++j)  // columns without edges
    if (cols.new_of[at(j)] == -1) cols.meet(j);
  out.rows = std::move(rows.met);
  out.cols = std::move(cols.met);
  return out;
}

std::int64_t match_scarce_first(const TwoSidedGraph& graph, Mates& mates) {
  const auto degree = [](const Offset* offsets, Index v) { return offsets[v + 1] - offsets[v]; };
  const Offset mean = graph.rows == 0 ? 0 : graph.edges() / graph.rows;
  std::int64_t pairs = 0;
  for (const Offset most : {mean / 2, mean, std::numeric_limits<Offset>::max()})
    for (Index i = 0; i < graph.rows; ++i) {
      if (mates.row_to_col[at(i)] != -1 || degree(graph.row_offsets, i) > most) continue;
      Index best = -1;
      Offset least = std::numeric_limits<Offset>::max();
      for (const Index j : graph.cols_of(i)) {
        if (mates.col_to_row[at(j)] != -1 || degree(graph.col_offsets, j) >= least) continue;
        least = degree(graph.col_offsets, j);
        best = j;
      }
      if (best == -1) continue;
      mates.row_to_col[at(i)] = best;
      mates.col_to_row[at(best)] = i;
      ++pairs;
    }
  return pairs;
}

}  // namespace motes::matching::detail
