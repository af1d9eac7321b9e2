// Karp & Sipser's heuristic (Maximum matching in sparse random graphs, 1981). A vertex with one live
// neighbour can be matched to it without loss: some maximum matching holds that pair. So such vertices go
// first, and each pair made takes an edge from the live degrees around it, which may make more of them. Where
// there are none, a row takes its first live neighbour, which may cost a pair in the end.
//
// In parallel (Azad, Halappanavar, Rajamanickam, Boman, Khan & Pothen 2012, but with the rule for columns
// too, where they have it for one side) threads run cascades side by side. A vertex is taken by setting the
// top bit of its state, first the one that looks for a mate, then the mate, so no vertex is in two pairs. Two
// vertices may look at the same time and each find the other taken; both stay free then, although an edge
// joins them. A last sweep, in which rows alone look, makes the matching maximal all the same. The state's
// other bits are the live degree: the neighbours that were not yet matched and told of, so never less than
// the neighbours not taken. A vertex is handed on by the one thread whose decrement reached 1. One word for
// both, since visits are random and each costs a miss of the cache.

#include "matching/detail/graph_side.h"
#include "matching/init/starts.h"

namespace motes::matching {
namespace {

using detail::at;
using detail::GraphSide;

/// A vertex of side 0 (rows) or 1 (columns).
struct Vertex {
  Index index;
  int side;
};

using State = std::uint32_t;
constexpr State kTaken = State{1} << 31;

template <bool kShared>
class KarpSipser {
 public:
  KarpSipser(const GraphSide& rows, const GraphSide& cols, int threads)
      : sides_{rows, cols}, threads_(threads) {
    for (int s = 0; s < 2; ++s) {
      const GraphSide& side = sides_[s];
      state_[s].resize(at(side.count));
#pragma omp parallel for num_threads(threads_) schedule(static) if (kShared)
      for (Index k = 0; k < side.count; ++k) state_[s][at(k)] = static_cast<State>(side.of(k).size());
      mate_[s].assign(at(side.count), -1);
    }
  }

  std::vector<Index> run(const detail::VisitOrder& order) {
    for (int s = 0; s < 2; ++s)
      look([](Index k) { return k; }, s, [&](Index k) { return sides_[s].of(k).size() == 1; });
    look(order, 0, [](Index) { return true; });
    if constexpr (kShared)
      detail::match_free_rows<true>(
          {sides_[0].count, sides_[1].count, sides_[0].offsets, sides_[0].neighbours}, threads_, order,
          mate_[0], mate_[1]);
    return std::move(mate_[0]);
  }

 private:
  using Word = detail::Word<kShared>;

  /// Each vertex of a side that `may_start` looks for a mate, and then those that its pair leaves with one
  /// live neighbour.
  template <class Order, class MayStart>
  void look(const Order& order, int side, const MayStart& may_start) {
#pragma omp parallel num_threads(threads_) if (kShared)
    {
      std::vector<Vertex> next;
#pragma omp for schedule(dynamic, 1024)
      for (Index k = 0; k < sides_[side].count; ++k) {
        const Vertex start{order(k), side};
        if (!may_start(start.index)) continue;
        match(start, next);
        while (!next.empty()) {
          const Vertex vertex = next.back();
          next.pop_back();
          match(vertex, next);
        }
      }
    }
  }

  bool take(int side, Index k) {
    State& state = state_[side][at(k)];
    return (Word::load(state) & kTaken) == 0 && (Word::set_bits(state, kTaken) & kTaken) == 0;
  }

  /// Pairs a vertex with its first neighbour that can be had. `next` receives those left with one neighbour.
  void match(Vertex vertex, std::vector<Vertex>& next) {
    const auto [index, side] = vertex;
    const int other = 1 - side;
    const State before = Word::load(state_[side][at(index)]);
    if (before == 0 || !take(side, index)) return;
    for (const Index partner : sides_[side].of(index)) {
      if (!take(other, partner)) continue;
      mate_[side][at(index)] = partner;
      mate_[other][at(partner)] = index;
      release({partner, other}, next);
      if (before > 1) release(vertex, next);  // with one live neighbour, nobody else is left to tell
      return;
    }
  }

  /// The vertex is gone: one neighbour less for those around it.
  void release(Vertex gone, std::vector<Vertex>& next) {
    const int other = 1 - gone.side;
    for (const Index k : sides_[gone.side].of(gone.index)) {
      State& state = state_[other][at(k)];
      if ((Word::load(state) & kTaken) != 0) continue;
      if (Word::decrement(state) == 1) next.push_back({k, other});
    }
  }

  GraphSide sides_[2];
  int threads_;
  std::vector<State> state_[2];  ///< live degree, and kTaken: looks for a mate, or has one
  std::vector<Index> mate_[2];
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
