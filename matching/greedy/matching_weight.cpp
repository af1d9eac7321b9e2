/// Weights summed in blocks of rows, by several threads.

#include <algorithm>
#include <numeric>

#include <motes/matching/matching_weight.h>

#include "matching/graph_side.h"

namespace motes::matching {

double weight_of(const GreedyProblem& problem, Offset e) {
  return std::visit(
      [&](auto weights) {
        return weights.empty() ? 1.0 : static_cast<double>(weights[static_cast<std::size_t>(e)]);
      },
      problem.weights);
}

Offset entry_of(const GreedyProblem& problem, Index row, Index col) {
  const auto list = detail::rows_side(problem.graph).of(row);
  constexpr std::ptrdiff_t kShort = 32;
  auto place = list.begin();
  if (std::ssize(list) <= kShort) {  // each step of a binary search would be mispredicted
    Index before = 0;
    for (const Index other : list) before += other < col;
    place += before;
  } else {
    place = std::lower_bound(list.begin(), list.end(), col);
  }
  if (place == list.end() || *place != col) return -1;
  return problem.graph.row_offsets[static_cast<std::size_t>(row)] + (place - list.begin());
}

double weight_of_pairs(const GreedyProblem& problem, std::span<const Index> row_to_col, int threads) {
  const Index rows = problem.graph.rows;
  const bool general = problem.kind == GraphKind::general;
  const Index blocks = rows / kRowsASum + 1;
  std::vector<double> sums(static_cast<std::size_t>(blocks), 0.0);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Index block = 0; block < blocks; ++block) {
    const auto first = Offset{block} * kRowsASum, last = std::min<Offset>(first + kRowsASum, rows);
    double sum = 0;
    for (Offset i = first; i < last; ++i) {
      const Index j = row_to_col[static_cast<std::size_t>(i)];
      if (j == -1 || (general && j < i)) continue;
      sum += weight_of(problem, entry_of(problem, static_cast<Index>(i), j));
    }
    sums[static_cast<std::size_t>(block)] = sum;
  }
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace motes::matching
