#include "matching/cardinality/split.h"

namespace motes::matching::detail {

template <class Graph>
Split::Split(const Graph& graph, int threads) {
  const auto parts = static_cast<std::size_t>(threads);
  const Offset weight = graph.rows + graph.edges();
  const auto weight_before = [&](Index row) { return row + static_cast<Offset>(graph.row_offsets[row]); };
  for (std::size_t k = 0; k <= parts; ++k) {
    const Offset wanted = weight / threads * static_cast<Offset>(k);
    Index low = 0, high = graph.rows;  // the first row with as much before it
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (weight_before(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    row_borders_.push_back(k == parts ? graph.rows : low);
    col_borders_.push_back(static_cast<Index>(Offset{graph.cols} * static_cast<Offset>(k) / threads));
  }
}

template Split::Split(const TwoSidedGraph&, int);
template Split::Split(const BasicTwoSidedGraph<std::uint32_t>&, int);

}  // namespace motes::matching::detail
