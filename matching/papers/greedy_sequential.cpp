/// The three sequential algorithms, and the random order of vertices.

#include "matching/papers/greedy_sequential.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include <motes/base/index.h>

#include "matching/greedy/neighbour_lists.h"
#include "matching/greedy/weight_keys.h"
#include "matching/papers/greedy_proposal/proposal.h"

namespace motes::matching {
namespace {

/// A random order of 0..count-1, drawn from a seed: a bijection of numbers of enough bits, applied again
/// until the result is below count (less than twice on average). Seed 0: the natural order.
class RandomOrder {
 public:
  RandomOrder(Index count, std::uint32_t seed)
      : count_(static_cast<std::uint32_t>(count)),
        bits_(std::max(2,
                       static_cast<int>(std::bit_width(static_cast<std::uint32_t>(std::max(count - 1, 0)))))),
        seed_(seed) {}
  Index operator()(Index k) const {
    auto x = static_cast<std::uint32_t>(k);
    if (seed_ == 0) return k;
    do x = step(x);
    while (x >= count_);
    return static_cast<Index>(x);
  }

 private:
  std::uint32_t step(std::uint32_t x) const {
    const std::uint32_t mask = bits_ == 32 ? 0xffffffffu : (1u << bits_) - 1;
    for (std::uint32_t round = 0; round < 3; ++round) {
      x = (x + detail::scrambled(seed_ + round)) & mask;
      x ^= x >> ((bits_ + 1) / 2);
      x = (x * 0x9e3779b1u) & mask;
      x ^= x >> ((bits_ + 1) / 2);
    }
    return x;
  }
  std::uint32_t count_;
  int bits_;
  std::uint32_t seed_;
};

template <bool kWeighted, class KeyOf>
std::vector<Index> one_by_one(const BipartiteGraphView& graph, const KeyOf& key_of_entry,
                              const RandomOrder& order, std::int64_t& scanned) {
  std::vector<Index> mate(at(graph.rows), -1);
  for (Index k = 0; k < graph.rows; ++k) {
    const Index v = order(k);
    if (mate[at(v)] != -1) continue;
    Index chosen = -1;
    Word best = 0;
    for (Offset e = graph.row_offsets[at(v)]; e < graph.row_offsets[at(v) + 1]; ++e) {
      ++scanned;
      const Index w = graph.col_index[at(e)];
      if (mate[at(w)] != -1 || w == v) continue;
      if constexpr (kWeighted) {
        const Word there = word(key_of_entry(e), static_cast<std::uint32_t>(w));
        if (there > best) best = there, chosen = w;
      } else {
        chosen = w;
        break;
      }
    }
    if (chosen == -1) continue;
    mate[at(v)] = chosen;
    mate[at(chosen)] = v;
  }
  return mate;
}

/// An edge as its place in the order: the greater is the better.
struct Ranked {
  Word first;            ///< key, greater of the ends' mixed numbers
  std::uint32_t second;  ///< the lesser
  bool operator>(const Ranked& other) const {
    return first != other.first ? first > other.first : second > other.second;
  }
};

template <class KeyOf>
std::vector<Ranked> ranked_edges(const GreedyProblem& problem, const KeyOf& key_of_entry) {
  const auto& graph = problem.graph;
  const bool general = problem.kind == GraphKind::general;
  std::vector<Ranked> edges;
  edges.reserve(at(general ? graph.edges() / 2 : graph.edges()));
  for (Index v = 0; v < graph.rows; ++v)
    for (Offset e = graph.row_offsets[at(v)]; e < graph.row_offsets[at(v) + 1]; ++e) {
      const Index w = graph.col_index[at(e)];
      if (general && w <= v) continue;
      const std::uint32_t other =
          static_cast<std::uint32_t>(general ? 0 : graph.rows) + static_cast<std::uint32_t>(w);
      const std::uint32_t a = mix(static_cast<std::uint32_t>(v)), b = mix(other);
      edges.push_back({static_cast<Word>(key_of_entry(e)) << 32 | std::max(a, b), std::min(a, b)});
    }
  return edges;
}

/// The part-th 32 bits of an edge's place in the order.
std::uint32_t part_of(const Ranked& edge, int part) {
  return part == 0 ? key_of(edge.first) : part == 1 ? static_cast<std::uint32_t>(edge.first) : edge.second;
}

/// Sorts [begin, end), which are equal in all parts before this one, best first; `room` has the same length.
/// A stable pass for each digit of the part, from the least significant; then runs that are equal in this
/// part are sorted by the next.
void sort_by_part(Ranked* begin, Ranked* end, Ranked* room, int part) {
  constexpr std::ptrdiff_t kWorthCounting = 4096;
  constexpr int kDigits = 3, kBits = 11;
  if (end - begin < kWorthCounting) return std::sort(begin, end, std::greater<>());
  const auto digit = [part](const Ranked& edge, int d) {
    return ~part_of(edge, part) >> (d * kBits) & ((1u << kBits) - 1);
  };
  std::vector<std::array<std::size_t, kDigits>> next(std::size_t{1} << kBits);
  for (const Ranked* edge = begin; edge < end; ++edge)
    for (int d = 0; d < kDigits; ++d) ++next[digit(*edge, d)][static_cast<std::size_t>(d)];
  Ranked *from = begin, *to = room;
  for (int d = 0; d < kDigits; ++d) {
    const auto place = static_cast<std::size_t>(d);
    const auto count = static_cast<std::size_t>(end - begin);
    if (next[digit(*from, d)][place] == count) continue;  // one digit for all
    std::size_t sum = 0;
    for (auto& of_digit : next) sum += std::exchange(of_digit[place], sum);
    for (const Ranked* edge = from; edge < from + count; ++edge) to[next[digit(*edge, d)][place]++] = *edge;
    std::swap(from, to);
  }
  if (from != begin) std::copy(from, from + (end - begin), begin);
  if (part == 2) return;
  for (Ranked *first = begin, *last; first < end; first = last) {
    for (last = first + 1; last < end && part_of(*last, part) == part_of(*first, part);) ++last;
    if (last - first > 1) sort_by_part(first, last, room, part + 1);
  }
}

}  // namespace

void OneByOne::run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const {
  WeightedGraph room;
  const GreedyProblem all = detail::with_all_lists(execution, problem, room, answer.stats);
  const RandomOrder order(all.graph.rows, seed_);
  std::int64_t& scanned = answer.stats.arcs_scanned;
  std::vector<Index> mate;
  if (weighted_)
    mate = Keys(all.weights, execution.threads).visit([&](const auto& key_of_entry) {
      return one_by_one<true>(all.graph, key_of_entry, order, scanned);
    });
  else
    mate = one_by_one<false>(all.graph, UnitKeys{}, order, scanned);
  detail::set_mates(problem, std::move(mate), answer.matching);
}

void Sorted::run(const Execution& execution, const GreedyProblem& problem, GreedyAnswer& answer) const {
  const auto& graph = problem.graph;
  std::vector<Ranked> edges = Keys(problem.weights, execution.threads).visit([&](const auto& key_of_entry) {
    return ranked_edges(problem, key_of_entry);
  });
  {
    const auto room = std::make_unique_for_overwrite<Ranked[]>(edges.size());
    sort_by_part(edges.data(), edges.data() + edges.size(), room.get(), 0);
  }
  answer.stats.arcs_scanned = graph.edges();
  const bool general = problem.kind == GraphKind::general;
  // Vertices of bipartite graphs may be more than an Index holds, so mates are kept by side.
  const auto rows = static_cast<std::uint32_t>(graph.rows);
  std::vector<Index>& row_to_col = answer.matching.row_to_col;
  std::vector<Index>& col_to_row = answer.matching.col_to_row;
  row_to_col.assign(at(graph.rows), -1);
  if (!general) col_to_row.assign(at(graph.cols), -1);
  for (const Ranked& edge : edges) {
    const std::uint32_t a = vertex_of(edge.first), b = unmix(edge.second);
    const std::uint32_t v = std::min(a, b), w = std::max(a, b);
    Index& mate = row_to_col[v];
    Index& other = general ? row_to_col[w] : col_to_row[w - rows];
    if (mate != -1 || other != -1) continue;
    mate = static_cast<Index>(general ? w : w - rows);
    other = static_cast<Index>(v);
  }
}

}  // namespace motes::matching
