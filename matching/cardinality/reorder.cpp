#include "matching/cardinality/reorder.h"

#include <algorithm>
#include <limits>

#include "matching/cardinality/regions.h"
#include "matching/cardinality/search.h"
#include "matching/parallel_for.h"

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

Mates Reordered::to_new(const Mates& mates, int threads) const {
  constexpr std::int64_t kPart = 1 << 14;
  const auto each = [&](std::size_t size, const auto& body) {
    const auto count = static_cast<std::int64_t>(size);
    parallel_for(threads, (count + kPart - 1) / kPart, [&](std::int64_t part) {
      for (std::int64_t k = part * kPart; k < std::min(count, (part + 1) * kPart); ++k)
        body(static_cast<std::size_t>(k));
    });
  };
  Mates out = no_mates(static_cast<Index>(mates.row_to_col.size()),
                       static_cast<Index>(mates.col_to_row.size()), threads);
  bool any = false;
  for (std::size_t i = 0; i < mates.row_to_col.size() && !any; ++i) any = mates.row_to_col[i] != -1;
  if (!any) return out;
  each(mates.row_to_col.size(), [&](std::size_t i) {
    const Index old = mates.row_to_col[at(rows[i])];
    if (old == -1) return;
    out.row_to_col[i] = new_col[at(old)];
    out.col_to_row[at(out.row_to_col[i])] = static_cast<Index>(i);
  });
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
    // Some column of each: the first ones of long sorted lists are near each other anyway.
    const Offset one = here + k % (next - here), two = next + k * 7 % (graph.row_offsets[i + 2] - next);
    // Of two columns drawn at random, fifteen pairs in sixteen are farther apart than this.
    far += std::abs(graph.col_index[static_cast<std::size_t>(one)] -
                    graph.col_index[static_cast<std::size_t>(two)]) > graph.cols / 32;
  }
  return 2 * far > seen;
}

bool may_have_places(const BipartiteGraphView& graph) {
  if (graph.rows == 0) return false;
  constexpr Index kSample = 1024;
  constexpr Offset kHub = 32;  // times the mean degree
  const Index count = std::min(kSample, graph.rows);
  for (Index k = 0; k < count; ++k) {
    const auto i = static_cast<std::size_t>(Offset{graph.rows} * k / count);
    if ((graph.row_offsets[i + 1] - graph.row_offsets[i]) * graph.rows > kHub * (graph.edges() + graph.rows))
      return false;
  }
  return scattered(graph);
}

std::optional<Reordered> reorder(const TwoSidedGraph& graph, int threads) {
  if (graph.edges() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (threads > 1) return reorder_in_regions(graph, threads);
  const auto edges = static_cast<std::size_t>(graph.edges());
  Reordered out{{},
                {},
                RawArray<std::uint32_t>(at(graph.rows) + 1),
                RawArray<std::uint32_t>(at(graph.cols) + 1),
                RawArray<Index>(edges),
                RawArray<Index>(edges),
                {0, graph.rows},
                {0, graph.cols},
                {}};
  Side rows(graph.rows, graph.row_offsets, graph.col_index);
  Side cols(graph.cols, graph.col_offsets, graph.row_index);
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
  out.new_col = std::move(cols.new_of);
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
