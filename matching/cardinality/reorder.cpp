#include "matching/cardinality/reorder.h"

#include <algorithm>
#include <limits>

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

/// What one thread of several met, in its order, and the edges of what it met.
struct Region {
  std::vector<Index> rows, cols;
  std::uint32_t row_edges = 0, col_edges = 0;
  std::uint32_t first_row = 0, first_col = 0, first_row_edge = 0, first_col_edge = 0;  ///< those before it
};

/// Threads grow regions of their own from roots of their own until all rows are met. Whose a vertex is, the
/// exchange of its new number says; numbers are given when all have ended, region after region, so that
/// nobody waits for anybody.
class Regions {
 public:
  Regions(const TwoSidedGraph& graph, int threads)
      : graph_(graph),
        threads_(threads),
        most_(at(std::max(graph.rows / (4 * threads), kLeastRim))),
        regions_(at(threads)),
        new_row_(at(graph.rows)),
        new_col_(at(graph.cols)) {}

  /// False: the graph has no such order.
  bool grow() {
    clear(new_row_);
    clear(new_col_);
    parallel_for(threads_, threads_, [&](std::int64_t k) { grow(regions_[static_cast<std::size_t>(k)]); });
    return !hopeless_;
  }

  void tell(Reordered& out) {
    Region before;
    for (Region& region : regions_) {
      region.first_row = before.first_row;
      region.first_col = before.first_col;
      region.first_row_edge = before.first_row_edge;
      region.first_col_edge = before.first_col_edge;
      before.first_row += static_cast<std::uint32_t>(region.rows.size());
      before.first_col += static_cast<std::uint32_t>(region.cols.size());
      before.first_row_edge += region.row_edges;
      before.first_col_edge += region.col_edges;
    }
    out.row_offsets[at(graph_.rows)] = out.col_offsets[at(graph_.cols)] = before.first_row_edge;
    const auto each = [&](const auto& body) {
      parallel_for(threads_, threads_, [&](std::int64_t k) { body(regions_[static_cast<std::size_t>(k)]); });
    };
    each([&](const Region& region) {
      number(region.rows, region.first_row, new_row_, out.rows);
      number(region.cols, region.first_col, new_col_, out.cols);
    });
    each([&](const Region& region) {
      lists(region.rows, graph_.row_offsets, graph_.col_index, new_col_, region.first_row,
            region.first_row_edge, out.row_offsets, out.col_index);
      lists(region.cols, graph_.col_offsets, graph_.row_index, new_row_, region.first_col,
            region.first_col_edge, out.col_offsets, out.row_index);
    });
    auto next = static_cast<Index>(before.first_col);
    for (Index j = 0; next < graph_.cols; ++j)  // columns without edges
      if (new_col_[at(j)] == kUnmet) {
        out.col_offsets[at(next)] = before.first_row_edge;
        out.cols[at(next++)] = j;
      }
  }

 private:
  static constexpr Index kUnmet = -1, kMet = -2;
  static constexpr std::int64_t kPart = 1 << 16, kRoots = 64;
  static constexpr Index kLeastRim = 64;

  void clear(RawArray<Index>& numbers) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    parallel_for(threads_, (size + kPart - 1) / kPart, [&](std::int64_t k) {
      std::fill(numbers.data() + k * kPart, numbers.data() + std::min(size, (k + 1) * kPart), kUnmet);
    });
  }

  static bool win(Index& number) {
    return peek(number) == kUnmet &&
           std::atomic_ref(number).exchange(kMet, std::memory_order_relaxed) == kUnmet;
  }

  void grow(Region& region) {
    const std::size_t fair = at(graph_.rows / threads_), fair_cols = at(graph_.cols / threads_);
    region.rows.reserve(fair + fair / 2);
    region.cols.reserve(fair_cols + fair_cols / 2);
    std::size_t row = 0, col = 0;  // expanded so far
    while (true) {
      const std::int64_t first = next_root_.fetch_add(kRoots, std::memory_order_relaxed);
      if (first >= graph_.rows) return;
      for (std::int64_t root = first; root < std::min<std::int64_t>(first + kRoots, graph_.rows); ++root) {
        if (!win(new_row_[static_cast<std::size_t>(root)])) continue;
        region.rows.push_back(static_cast<Index>(root));
        while (row < region.rows.size()) {
          // A region whose rim is most of it is no neighbourhood.
          const std::size_t rim = region.rows.size() - row;
          if (rim > most_ && 2 * rim > region.rows.size()) hopeless_ = true;
          if (hopeless_) return;
          region.row_edges +=
              meet(region.rows, row, graph_.row_offsets, graph_.col_index, new_col_, region.cols);
          region.col_edges +=
              meet(region.cols, col, graph_.col_offsets, graph_.row_index, new_row_, region.rows);
        }
      }
    }
  }

  /// Meets the neighbours of all from `next` on, which becomes their number. Returns their edges.
  static std::uint32_t meet(const std::vector<Index>& from, std::size_t& next, const Offset* offsets,
                            const Index* neighbours, RawArray<Index>& numbers, std::vector<Index>& met) {
    std::uint32_t edges = 0;
    for_each_ahead(from, static_cast<std::int64_t>(next), std::ssize(from), offsets, neighbours,
                   numbers.data(), [&](Index old) {
                     for (Offset e = offsets[old]; e < offsets[old + 1]; ++e)
                       if (win(numbers[at(neighbours[e])])) met.push_back(neighbours[e]);
                     edges += static_cast<std::uint32_t>(offsets[old + 1] - offsets[old]);
                   });
    next = from.size();
    return edges;
  }

  static void number(const std::vector<Index>& met, std::uint32_t first, RawArray<Index>& numbers,
                     RawArray<Index>& old_of) {
    std::copy(met.begin(), met.end(), old_of.data() + first);
    for (std::size_t k = 0; k < met.size(); ++k) {
      constexpr std::size_t kAhead = 16;
      if (k + kAhead < met.size()) __builtin_prefetch(&numbers[at(met[k + kAhead])], 1);
      numbers[at(met[k])] = static_cast<Index>(first + k);
    }
  }

  static void lists(const std::vector<Index>& met, const Offset* offsets, const Index* neighbours,
                    const RawArray<Index>& numbers, std::size_t first, std::uint32_t filled,
                    RawArray<std::uint32_t>& new_offsets, RawArray<Index>& out) {
    for_each_ahead(met, 0, std::ssize(met), offsets, neighbours, numbers.data(), [&](Index old) {
      new_offsets[first++] = filled;
      for (Offset e = offsets[old]; e < offsets[old + 1]; ++e) out[filled++] = numbers[at(neighbours[e])];
    });
  }

  const TwoSidedGraph& graph_;
  const int threads_;
  const std::size_t most_;
  std::vector<Region> regions_;
  RawArray<Index> new_row_, new_col_;  ///< of an old number; kUnmet; kMet: its region has it in its list
  std::atomic<std::int64_t> next_root_ = 0;
  std::atomic<bool> hopeless_ = false;  ///< some thread met too many at once
};

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
  Mates out{std::vector<Index>(mates.row_to_col.size(), -1), std::vector<Index>(mates.col_to_row.size(), -1)};
  bool any = false;
  for (std::size_t i = 0; i < mates.row_to_col.size() && !any; ++i) any = mates.row_to_col[i] != -1;
  if (!any) return out;
  RawArray<Index> new_col(mates.col_to_row.size());
  each(mates.col_to_row.size(), [&](std::size_t j) { new_col[at(cols[j])] = static_cast<Index>(j); });
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
    // Of two columns drawn at random, fifteen pairs in sixteen are farther apart than this.
    far += std::abs(graph.col_index[static_cast<std::size_t>(here)] -
                    graph.col_index[static_cast<std::size_t>(next)]) > graph.cols / 32;
  }
  return 2 * far > seen;
}

std::optional<Reordered> reorder(const TwoSidedGraph& graph, int threads) {
  if (graph.edges() > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const auto edges = static_cast<std::size_t>(graph.edges());
  Reordered out{{},
                {},
                RawArray<std::uint32_t>(at(graph.rows) + 1),
                RawArray<std::uint32_t>(at(graph.cols) + 1),
                RawArray<Index>(edges),
                RawArray<Index>(edges)};
  if (threads > 1) {
    Regions regions(graph, threads);
    if (!regions.grow()) return std::nullopt;
    out.rows = RawArray<Index>(at(graph.rows) + 1);
    out.cols = RawArray<Index>(at(graph.cols) + 1);
    regions.tell(out);
    return out;
  }
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
