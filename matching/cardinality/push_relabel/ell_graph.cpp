/// Builds ELL lists in parallel.

#include "matching/cardinality/push_relabel/ell_graph.h"

#include <algorithm>
#include <limits>

#include <motes/base/avx512.h>
#include <motes/base/index.h>

#include "matching/cardinality/augmenting_search.h"

namespace motes::matching::detail {
namespace {

struct Filling {
  Index* slots;
  Index vertices;
  const Offset* offsets;
  const Index* neighbours;
  Index none;
  std::vector<Index>& more;
};

/// Lays out the rest of a list that is longer than its slots.
void lay_out_rest(const Filling& of, Index* slots, std::size_t count, std::span<const Index> list) {
  slots[count - 1] = of.none + 1 + static_cast<Index>(of.more.size());
  of.more.push_back(static_cast<Index>(list.size() - (count - 1)));
  of.more.insert(of.more.end(), list.begin() + static_cast<std::ptrdiff_t>(count - 1), list.end());
}

template <std::size_t kCount>
void plain_fill(const Filling& of) {
  for (Index v = 0; v < of.vertices; ++v) {
    Index* const to = of.slots + at(v) * kCount;
    const auto length = static_cast<std::size_t>(of.offsets[v + 1] - of.offsets[v]);
    const std::size_t here = std::min(length, kCount);
    std::copy_n(of.neighbours + of.offsets[v], here, to);
    std::fill(to + here, to + kCount, of.none);
    if (length > kCount) lay_out_rest(of, to, kCount, {of.neighbours + of.offsets[v], length});
  }
}

#if MOTES_HAS_AVX512
// A fixed number of steps, since a branch on the length would be mispredicted once per vertex. kStream:
// stores that bypass the cache, which would otherwise read each line before it is written.
template <std::size_t kCount, bool kStream>
MOTES_AVX512 void wide_fill(const Filling& of) {
  for (Index v = 0; v < of.vertices; ++v) {
    Index* const to = of.slots + at(v) * kCount;
    const Index* const from = of.neighbours + of.offsets[v];
    const Offset length = of.offsets[v + 1] - of.offsets[v];
    for (unsigned k = 0; k < kCount; k += 16) {
      const auto left = static_cast<unsigned>(std::clamp<Offset>(length - k, 0, 16));
      const auto mask = static_cast<__mmask16>((1u << left) - 1);
      const __m512i list = _mm512_mask_loadu_epi32(_mm512_set1_epi32(of.none), mask, from + k);
      if constexpr (kStream)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + k), list);
      else
        _mm512_mask_storeu_epi32(to + k, static_cast<__mmask16>(kCount < 16 ? 0xff : 0xffff), list);
    }
    if (length > Offset{kCount}) [[unlikely]]
      lay_out_rest(of, to, kCount, {from, static_cast<std::size_t>(length)});
  }
}
#endif

template <std::size_t kCount>
void fill(const Filling& of) {
#if MOTES_HAS_AVX512
  // Large arrays are aligned to pages.
  const bool lines = kCount >= 16 && at(of.vertices) * kCount * sizeof(Index) >= HostBlocks::kPage;
  if (has_avx512()) return lines ? wide_fill<kCount, (kCount >= 16)>(of) : wide_fill<kCount, false>(of);
#endif
  plain_fill<kCount>(of);
}

}  // namespace

EllGraph::EllGraph(const TwoSidedGraph& graph, std::size_t count)
    : graph_(&graph),
      count_(count),
      row_slots_(at(graph.rows) * count + 8),  // 16 are read at once
      col_slots_(at(graph.cols) * count + 8),
      reader_(ell_reader(count)),
      list_reader_(detail::adjacency_reader()) {
  const auto fill_both = [&]<std::size_t kCount>() {
    fill<kCount>({row_slots_.data(), graph.rows, graph.row_offsets, graph.col_index, graph.cols, more_});
    fill<kCount>({col_slots_.data(), graph.cols, graph.col_offsets, graph.row_index, graph.rows, more_});
  };
  if (count == 8)
    fill_both.template operator()<8>();
  else if (count == 16)
    fill_both.template operator()<16>();
  else if (count == 32)
    fill_both.template operator()<32>();
  else
    fill_both.template operator()<48>();
}

namespace {

Offset mean_degree(const TwoSidedGraph& graph) {
  return graph.edges() / std::max(1, std::min(graph.rows, graph.cols));
}
std::size_t slots_of_vertex(const TwoSidedGraph& graph) {
  const Offset mean = mean_degree(graph);
  return mean < 5 ? 8 : mean < 12 ? 16 : mean < 25 ? 32 : 48;
}

/// In a sample, half of the entries of all lists lie beyond their slots.
bool lists_go_on(Index vertices, const Offset* offsets, std::size_t slots) {
  constexpr Index kSample = 1024;
  const Index count = std::min(kSample, vertices);
  Offset all = 0, beyond = 0;
  for (Index k = 0; k < count; ++k) {
    const auto v = static_cast<Index>(Offset{vertices} * k / count);
    const Offset length = offsets[v + 1] - offsets[v];
    all += length;
    beyond += std::max<Offset>(0, length - static_cast<Offset>(slots));
  }
  return 2 * beyond > all;
}

}  // namespace

bool EllGraph::pay(const TwoSidedGraph& graph) {
  return mean_degree(graph) <= 40 &&
         std::max(graph.rows, graph.cols) + 2 * graph.edges() < std::numeric_limits<Index>::max() &&
         !lists_go_on(graph.rows, graph.row_offsets, slots_of_vertex(graph)) &&
         !lists_go_on(graph.cols, graph.col_offsets, slots_of_vertex(graph));
}

EllGraph::EllGraph(const TwoSidedGraph& graph) : EllGraph(graph, slots_of_vertex(graph)) {}

}  // namespace motes::matching::detail
