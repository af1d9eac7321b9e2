// Karp & Sipser's heuristic (Maximum matching in sparse random graphs, 1981). A vertex with one live
// neighbour can be matched to it without loss: some maximum matching holds that pair. So such vertices are
// matched first, and each pair reduces the live degrees around it, which may make more of them. If none is
// left, a row takes its first live neighbour, which may cost a pair in the end.
//
// In parallel (Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen 2012, but with the rule for both sides
// instead of one) threads run cascades in parallel. A vertex is taken by setting the top bit of its state,
// first the one that looks for a mate, then the mate, so no vertex is in two pairs. Two vertices may search
// at the same time and each find the other taken; both then stay free, although an edge joins them. A last
// sweep, in which rows alone look, makes the matching maximal nevertheless. The state's other bits are the
// live degree: the neighbours whose match has not been counted yet, so never fewer than the neighbours not
// taken. A vertex joins the cascade of the one thread whose decrement reached 1. Both are in one word, since
// visits are random and each causes a cache miss.
//
// A cascade is a chain of such misses. So a thread interleaves several, one vertex of each in turn, and
// prefetches the data that all of them read next before it examines the first.

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/raw_array.h>
#include <motes/matching/cardinality_solver.h>

#include "matching/cardinality/bfs_reordering.h"
#include "matching/graph_side.h"
#include "matching/init/starts.h"

namespace motes::matching {
namespace {

using detail::GraphSide;

/// A vertex of side 0 (rows) or 1 (columns).
struct Vertex {
  Index index;
  int side;
};

using State = std::uint32_t;
constexpr State kTaken = State{1} << 31;

/// A range of vertex numbers: from the first, before the end.
struct Range {
  Index begin = 0, end = 0;
  bool has(Index k) const { return begin <= k && k < end; }
};

/// A sequence of vertices that search for a mate: a start, then the vertices that its pair leaves with one
/// live neighbour, and so on; then the next start.
struct Cascade {
  Index start = 0, end = 0;  ///< starts not visited yet, in the order of visits
  Range partners;            ///< vertices that these starts may choose
  std::vector<Vertex> next;  ///< vertices left with one neighbour
  Vertex vertex{};           ///< searches for a mate in this round
  bool choosy = false;       ///< chooses only among `partners`
  Index partner = -1;        ///< the mate it found
  bool last = false;         ///< whether this was its only remaining neighbour

  Vertex mate() const { return {partner, 1 - vertex.side}; }
};

/// One thread's part of a side; no two share a cache line.
struct alignas(64) Share {
  Offset next = 0, end = 0;  ///< next: the first vertex not given to a cascade; may exceed the end
  Range partners;            ///< the same part of the other side
};

template <bool kShared>
class KarpSipser {
 public:
  KarpSipser(const GraphSide& rows, const GraphSide& cols, int threads)
      : sides_{rows, cols}, threads_(threads), mates_(detail::no_mates(rows.count, cols.count, threads)) {
    for (int s = 0; s < 2; ++s) {
      const GraphSide& side = sides_[s];
      state_[s] = RawArray<State>(at(side.count));
#pragma omp parallel for num_threads(threads_) schedule(static) if (kShared)
      for (Index k = 0; k < side.count; ++k) state_[s][at(k)] = static_cast<State>(side.of(k).size());
    }
  }

  std::vector<Index> run(const detail::VisitOrder& order) {
    // The order of vertices of degree one does not matter. A row that takes a column without need should do
    // so after the cascade of the previous row, which may be its neighbour, has ended.
    for (int s = 0; s < 2; ++s)
      look([](Index k) { return k; }, s, kTogether, false,
           [&](Index k) { return sides_[s].of(k).size() == 1; });
    const BipartiteGraphView graph{sides_[0].count, sides_[1].count, sides_[0].offsets, sides_[0].neighbours};
    const bool by_place = !detail::scattered(graph);
    const auto free = [&](Index i) { return (Word::load(state_[0][at(i)]) & kTaken) == 0; };
    if (kShared && by_place && order.natural()) look(order, 0, 1, true, free);
    look(order, 0, by_place ? 1 : kTogether, false, free);
    if constexpr (kShared)
      detail::match_free_rows<true>(graph, threads_, order, false, mates_.row_to_col, mates_.col_to_row);
    return std::move(mates_.row_to_col);
  }

 private:
  using Word = detail::Word<kShared>;

  /// Cascades that a thread interleaves to overlap their cache misses.
  static constexpr int kTogether = 16;

  /// Runs a cascade from each vertex of a side that `may_start`. Each thread has `together` interleaved
  /// cascades and a share of the side: if consecutive rows are neighbours, threads only conflict at the
  /// borders of shares. A thread that has finished takes ranges of others. `choosy`: starts take a mate only
  /// from the same share of the other side, so that the first of a share do not take mates needed by the last
  /// of the previous share (match_free_rows).
  template <class Order, class MayStart>
  void look(const Order& order, int side, int together, bool choosy, const MayStart& may_start) {
    constexpr Index kRange = 64;
    std::vector<Share> shares(at(threads_));
    const auto begin_of = [&](int s, int t) {
      return detail::range_begin(sides_[s].count, at(t), shares.size());
    };
    for (int t = 0; t < threads_; ++t)
      shares[at(t)] = {
          begin_of(side, t), begin_of(side, t + 1), {begin_of(1 - side, t), begin_of(1 - side, t + 1)}};
#pragma omp parallel num_threads(threads_) if (kShared)
    {
      const int own = kShared ? omp_get_thread_num() : 0;
      int helped = 0;  // shares without ranges left, beginning with its own
      const auto starts = [&](Cascade& cascade) {
        for (;;) {
          while (cascade.start == cascade.end) {
            if (helped == threads_) return false;
            Share& share = shares[at((own + helped) % threads_)];
            const Offset begin = Word::add(share.next, kRange);
            if (begin >= share.end) {
              ++helped;
              continue;
            }
            cascade.start = static_cast<Index>(begin);
            cascade.partners = share.partners;
            cascade.end = static_cast<Index>(std::min(begin + kRange, share.end));
          }
          const Index k = order(cascade.start++);
          if (!may_start(k)) continue;
          cascade.vertex = {k, side};
          cascade.choosy = choosy;
          return true;
        }
      };
      std::vector<Cascade> cascades(static_cast<std::size_t>(together));
      if (together == 1) {
        for (Cascade& cascade = cascades[0]; goes_on(cascade) || starts(cascade);) {
          match(cascade);
          tell(cascade);
        }
      } else {
        std::vector<Cascade*> busy;
        do {
          busy.clear();
          for (Cascade& cascade : cascades)
            if (goes_on(cascade) || starts(cascade)) busy.push_back(&cascade);
          round(busy);
        } while (!busy.empty());
      }
    }
  }

  /// Moves to the next vertex of the cascade that can still get a mate; false if there is none.
  bool goes_on(Cascade& cascade) {
    while (!cascade.next.empty()) {
      cascade.vertex = cascade.next.back();
      cascade.next.pop_back();
      cascade.choosy = false;
      const State state = Word::load(state_[cascade.vertex.side][at(cascade.vertex.index)]);
      if (state != 0 && (state & kTaken) == 0) return true;
    }
    return false;
  }

  /// Advances each cascade by one vertex.
  void round(const std::vector<Cascade*>& cascades) {
    ask_for_neighbours(cascades, [](const Cascade& c) { return c.vertex; });
    for (Cascade* cascade : cascades) match(*cascade);
    ask_for_neighbours(cascades, [](const Cascade& c) { return c.mate(); });
    for (Cascade* cascade : cascades) tell(*cascade);
  }

  /// Prefetches the lists and then the neighbours' states of one vertex of each cascade (index -1: none).
  /// Always inline, since compilers remove calls of functions that only prefetch.
  template <class VertexOf>
  [[gnu::always_inline]] void ask_for_neighbours(const std::vector<Cascade*>& cascades,
                                                 const VertexOf& vertex_of) {
    constexpr Offset kMost = 24;  // states of one list
    for (const Cascade* cascade : cascades)
      if (const Vertex v = vertex_of(*cascade); v.index != -1)
        __builtin_prefetch(sides_[v.side].offsets.data() + v.index);
    for (const Cascade* cascade : cascades)
      if (const Vertex v = vertex_of(*cascade); v.index != -1) {
        const GraphSide& side = sides_[v.side];
        __builtin_prefetch(side.neighbours.data() + side.offsets[at(v.index)]);
      }
    for (const Cascade* cascade : cascades)
      if (const Vertex v = vertex_of(*cascade); v.index != -1) {
        const GraphSide& side = sides_[v.side];
        const Offset begin = side.offsets[at(v.index)], size = side.offsets[at(v.index) + 1] - begin;
        for (Offset e = begin; e < begin + std::min(size, kMost); ++e)
          __builtin_prefetch(&state_[1 - v.side][at(side.neighbours[at(e)])]);
      }
  }

  bool take(int side, Index k) {
    State& state = state_[side][at(k)];
    return (Word::load(state) & kTaken) == 0 && (Word::set_bits(state, kTaken) & kTaken) == 0;
  }

  /// Whether the cascade's vertex has a neighbour that it may choose.
  bool has_choice(const Cascade& cascade) const {
    const auto [index, side] = cascade.vertex;
    for (const Index k : sides_[side].of(index))
      if (cascade.partners.has(k) && (Word::load(state_[1 - side][at(k)]) & kTaken) == 0) return true;
    return false;
  }

  /// Pairs the cascade's vertex with its first available neighbour.
  void match(Cascade& cascade) {
    const auto [index, side] = cascade.vertex;
    cascade.partner = -1;
    const State before = Word::load(state_[side][at(index)]);
    if (before == 0 || (cascade.choosy && !has_choice(cascade)) || !take(side, index)) return;
    if (cascade.choosy && match(cascade, before, cascade.partners)) return;
    match(cascade, before, {0, sides_[1 - side].count});  // its choice may be taken
  }
  bool match(Cascade& cascade, State before, Range partners) {
    const auto [index, side] = cascade.vertex;
    for (const Index partner : sides_[side].of(index)) {
      if (!partners.has(partner) || !take(1 - side, partner)) continue;
      (side == 0 ? mates_.row_to_col : mates_.col_to_row)[at(index)] = partner;
      (side == 0 ? mates_.col_to_row : mates_.row_to_col)[at(partner)] = index;
      cascade.partner = partner;
      cascade.last = before == 1;  // no other row to update
      return true;
    }
    return false;
  }

  /// Updates the neighbours of the pair found in this round.
  void tell(Cascade& cascade) {
    if (cascade.partner == -1) return;
    release(cascade.mate(), cascade.next);
    if (!cascade.last) release(cascade.vertex, cascade.next);
  }

  /// Removes the vertex from its neighbours' degrees. `next` receives those left with one neighbour.
  void release(Vertex gone, std::vector<Vertex>& next) {
    const int other = 1 - gone.side;
    for (const Index k : sides_[gone.side].of(gone.index)) {
      State& state = state_[other][at(k)];
      // A single thread also counts down taken neighbours, which are not read any more: that is faster than a
      // branch.
      if (kShared && (Word::load(state) & kTaken) != 0) continue;
      if (Word::decrement(state) == 1) next.push_back({k, other});
    }
  }

  GraphSide sides_[2];
  int threads_;
  Mates mates_;
  RawArray<State> state_[2];  ///< live degree, and kTaken: searches for a mate, or has one
};

}  // namespace

std::vector<Index> start_karp_sipser(const Execution& execution, const CardinalityProblem& problem,
                                     std::uint64_t seed) {
  const auto& graph = problem.graph;
  const int threads = detail::threads_for(execution, graph.rows);
  Transposed made;
  GraphSide cols{graph.cols, problem.col_offsets, problem.row_index};
  if (problem.col_offsets.empty()) {
    made = transpose(graph, threads);
    cols.offsets = made.col_offsets;
    cols.neighbours = made.row_index;
  }
  const GraphSide rows = detail::rows_side(graph);
  const detail::VisitOrder order(graph.rows, seed);
  if (threads > 1) return KarpSipser<true>(rows, cols, threads).run(order);
  return KarpSipser<false>(rows, cols, 1).run(order);
}

}  // namespace motes::matching
