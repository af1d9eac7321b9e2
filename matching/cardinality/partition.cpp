/// Computes the borders of ranges, and the owner of each row and column.

#include "matching/cardinality/partition.h"

#include <utility>

namespace motes::matching::detail {

template <class Graph>
Partition::Partition(const Graph& graph, int parts) {
  const auto count = static_cast<std::size_t>(parts);
  const Offset weight = graph.rows + graph.edges();
  const auto weight_before = [&](Index row) { return row + static_cast<Offset>(graph.row_offsets[row]); };
  for (std::size_t k = 0; k <= count; ++k) {
    const Offset wanted = weight / parts * static_cast<Offset>(k);
    Index low = 0, high = graph.rows;  // the first row with that many before it
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (weight_before(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    row_borders_.push_back(k == count ? graph.rows : low);
    col_borders_.push_back(static_cast<Index>(Offset{graph.cols} * static_cast<Offset>(k) / parts));
  }
  align_to_grains();
}

Partition::Partition(std::vector<Index> row_borders, std::vector<Index> col_borders)
    : row_borders_(std::move(row_borders)), col_borders_(std::move(col_borders)) {
  align_to_grains();
}

void Partition::align_to_grains() {
  constexpr Index kGrains = 2048;  // a table that stays in the first cache
  const Index rows = row_borders_.back();
  while (rows >> grain_shift_ >= kGrains) ++grain_shift_;
  for (std::size_t k = 1; k + 1 < row_borders_.size(); ++k)
    row_borders_[k] = row_borders_[k] >> grain_shift_ << grain_shift_;
}

std::vector<Index> Partition::owners(std::size_t threads) const {
  std::vector<Index> out;
  std::size_t part = 0;
  for (Index grain = 0; grain <= (row_borders_.back() - 1) >> grain_shift_; ++grain) {
    while (grain << grain_shift_ >= row_borders_[part + 1]) ++part;
    out.push_back(static_cast<Index>(part % threads));
  }
  return out;
}

template Partition::Partition(const TwoSidedGraph&, int);
template Partition::Partition(const BasicTwoSidedGraph<std::uint32_t>&, int);

}  // namespace motes::matching::detail
