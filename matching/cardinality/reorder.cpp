#include "matching/cardinality/reorder.h"

#include <algorithm>
#include <limits>

#include "matching/cardinality/search.h"

namespace motes::matching::detail {
namespace {

/// One side of the search: its vertices in the order they are met, and the lists it reads.
struct Side {
  Side(Index its_count, const Offset* its_offsets, const Index* its_neighbours)
      : count(its_count),
        offsets(its_offsets),
        neighbours(its_neighbours),
        new_of(at(its_count)),
        met(at(its_count) + 1) {
    std::fill(new_of.data(), new_of.data() + count, -1);
  }
  void meet(Index old) {
    new_of[at(old)] = number;
    met[at(number++)] = old;
  }

  Index count, number = 0;  ///< vertices, and those met
  const Offset* offsets;
  const Index* neighbours;
  RawArray<Index> new_of;  ///< [count] -1: not met yet
  RawArray<Index> met;     ///< [count + 1] the last is room to write before it is known that all are met
};

/// The lists of side.met[begin, end) in the new numbers, after those before it; neighbours not met before are
/// met now.
void expand(const Side& side, Index begin, Index end, Side& other, std::uint32_t* new_offsets, Index* out) {
  constexpr Index kAhead = 8;
  constexpr Offset kWords = 16;
  std::uint32_t filled = new_offsets[begin];
  Index number = other.number;
  for (Index k = begin; k < end; ++k) {
    const auto offset = [&](Index n) { return side.offsets + side.met[at(k + n)]; };
    if (k + 3 * kAhead < end) __builtin_prefetch(offset(3 * kAhead));
    if (k + 2 * kAhead < end) {
      const Index* list = side.neighbours + *offset(2 * kAhead);
      __builtin_prefetch(list);
      __builtin_prefetch(list + 12);
    }
    if (k + kAhead < end) {
      const Offset first = offset(kAhead)[0], last = std::min(offset(kAhead)[1], first + kWords);
      for (Offset e = first; e < last; ++e) __builtin_prefetch(&other.new_of[at(side.neighbours[e])]);
    }
    for (Offset e = offset(0)[0]; e < offset(0)[1]; ++e) {
      // Met or not is a guess that goes wrong once a list: no branch.
      const Index old = side.neighbours[e], known = other.new_of[at(old)];
      const Index now = known == -1 ? number : known;
      other.met[at(number)] = old;
      other.new_of[at(old)] = now;
      number += known == -1;
      out[filled++] = now;
    }
    new_offsets[k + 1] = filled;
  }
  other.number = number;
}

}  // namespace

NearGraph Reordered::graph() const {
  return {static_cast<Index>(row_offsets.size() - 1),
          static_cast<Index>(col_offsets.size() - 1),
          row_offsets.data(),
          col_index.data(),
          col_offsets.data(),
          row_index.data()};
}

Mates Reordered::to_new(const Mates& mates) const {
  Mates out{std::vector<Index>(mates.row_to_col.size(), -1), std::vector<Index>(mates.col_to_row.size(), -1)};
  if (std::all_of(mates.col_to_row.begin(), mates.col_to_row.end(), [](Index i) { return i == -1; }))
    return out;
  RawArray<Index> new_col(mates.col_to_row.size());
  for (std::size_t j = 0; j < mates.col_to_row.size(); ++j) new_col[at(cols[j])] = static_cast<Index>(j);
  for (std::size_t i = 0; i < mates.row_to_col.size(); ++i) {
    const Index old = mates.row_to_col[at(rows[i])];
    if (old == -1) continue;
    out.row_to_col[i] = new_col[at(old)];
    out.col_to_row[at(out.row_to_col[i])] = static_cast<Index>(i);
  }
  return out;
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
  if (graph.edges() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  Side rows(graph.rows, graph.row_offsets, graph.col_index);
  Side cols(graph.cols, graph.col_offsets, graph.row_index);
  const auto edges = static_cast<std::size_t>(graph.edges());
  Reordered out{{},
                {},
                RawArray<std::uint32_t>(at(graph.rows) + 1),
                RawArray<std::uint32_t>(at(graph.cols) + 1),
                RawArray<Index>(edges),
                RawArray<Index>(edges)};
  out.row_offsets[0] = out.col_offsets[0] = 0;

  Index row = 0, col = 0;  // expanded so far
  for (Index root = 0; root < graph.rows; ++root) {
    if (rows.new_of[at(root)] != -1) continue;
    rows.meet(root);
    while (row < rows.number) {
      const Index rows_end = rows.number;
      if (8 * Offset{rows_end - row} > graph.rows) return std::nullopt;
      expand(rows, row, rows_end, cols, out.row_offsets.data(), out.col_index.data());
      row = rows_end;
      const Index cols_end = cols.number;
      expand(cols, col, cols_end, rows, out.col_offsets.data(), out.row_index.data());
      col = cols_end;
    }
  }
  for (Index j = 0; j < graph.cols; ++j)  // columns without edges
    if (cols.new_of[at(j)] == -1) {
      out.col_offsets[at(cols.number) + 1] = static_cast<std::uint32_t>(edges);
      cols.meet(j);
    }
  out.rows = std::move(rows.met);
  out.cols = std::move(cols.met);
  return out;
}

std::int64_t match_scarce_first(const NearGraph& graph, Mates& mates) {
  // A column's degree, or that it is taken, in one byte; degrees above the last that fits count as it.
  constexpr std::uint8_t kTaken = 255;
  RawArray<std::uint8_t> degree(at(graph.cols));
  for (Index j = 0; j < graph.cols; ++j)
    degree[at(j)] =
        mates.col_to_row[at(j)] != -1
            ? kTaken
            : static_cast<std::uint8_t>(std::min<std::size_t>(graph.rows_of(j).size(), kTaken - 1));
  const std::size_t mean = graph.rows == 0 ? 0 : static_cast<std::size_t>(graph.edges() / graph.rows);
  std::int64_t pairs = 0;
  for (const std::size_t most : {mean / 2, mean, std::numeric_limits<std::size_t>::max()})
    for (Index i = 0; i < graph.rows; ++i) {
      const auto cols = graph.cols_of(i);
      if (cols.size() > most || mates.row_to_col[at(i)] != -1) continue;
      Index best = -1;
      std::uint8_t least = kTaken;
      for (const Index j : cols) {
        const std::uint8_t here = degree[at(j)];
        best = here < least ? j : best;
        least = std::min(least, here);
      }
      if (best == -1) continue;
      degree[at(best)] = kTaken;
      mates.row_to_col[at(i)] = best;
      mates.col_to_row[at(best)] = i;
      ++pairs;
    }
  return pairs;
}

}  // namespace motes::matching::detail
