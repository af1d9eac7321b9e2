#pragma once
/// Column prices close to those of an optimum, by annealing: for square matrices whose cheap pairs alone do
/// not determine good prices.

#include <vector>

#include "matching/assignment/canonical/entries.h"
#include "matching/assignment/core/distributed_rows.h"

namespace motes::matching::detail {

struct AnnealedPrices {
  std::vector<Cost> u, v;  ///< [rows here], [cols] on the grid
};

/// For a square matrix of legal entries, whose rows may be distributed. The prices are estimates without any
/// guarantee, but the same for any number of threads. Hundreds of passes over a sample of 128 x 128 entries,
/// dozens over larger ones, four over the matrix.
template <class T>
AnnealedPrices annealed_prices(int threads, const DenseEntries<T>& entries,
                               const DistributedRows& distributed = {});

}  // namespace motes::matching::detail
