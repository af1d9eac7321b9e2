#include "python/src/residual_graph.h"

#include <algorithm>
#include <cmath>

namespace motes::python {

ResidualGraph::ResidualGraph(const DoubleCosts& costs, const PricedMatching& m, double limit,
                             ResidualMemory& memory)
    : costs_(costs), m_(m), memory_(memory), edges_(memory.edges) {
  edges_.clear();
  const double reach = limit + kRounding * (scale() + limit);
  add_pairs(reach);
  add_alone_rows(reach);
  add_alone_cols(reach);
}

double ResidualGraph::scale() const {
  double most = costs_.largest();
  for (const double v : m_.v) most = std::max(most, std::abs(v));
  return most;
}

void ResidualGraph::add_pairs(double reach) {
  std::vector<double>& held = memory_.held;
  held.resize(at(costs_.rows()));
  std::vector<DoubleCosts::Entry>& entries = memory_.entries;
  entries.clear();
  costs_.entries_within(reach, m_, held.data(), entries);
  edges_.reserve(entries.size());
  for (const DoubleCosts::Entry& e : entries) {
    const Index k = m_.row_to_col[at(e.row)];
    const double price = k >= 0 ? m_.v[at(k)] : 0;
    edges_.push_back(
        {k >= 0 ? k : costs_.cols(), e.col, e.row, {e.cost, -m_.v[at(e.col)], -held[at(e.row)], price}});
  }
}

/// Adds the edges of rows that may be unmatched.
void ResidualGraph::add_alone_rows(double reach) {
  for (Index i = 0; i < costs_.rows(); ++i) {
    const Index k = m_.row_to_col[at(i)];
    if (k < 0 || costs_.row_cost(i) == kNone) continue;
    const double held = costs_.cost(i, k), price = m_.v[at(k)];
    if (costs_.row_cost(i) - (held - price) <= reach)
      edges_.push_back({k, costs_.cols(), i, {costs_.row_cost(i), -held, price, 0}});
  }
}

/// Adds the edges of columns that may become unmatched, and of those that are.
void ResidualGraph::add_alone_cols(double reach) {
  for (Index j = 0; j < costs_.cols(); ++j) {
    const double alone = costs_.col_cost(j), price = m_.v[at(j)];
    if (alone == kNone) continue;
    if (m_.col_to_row[at(j)] < 0)
      edges_.push_back({j, costs_.cols(), -1, {price, -alone, 0, 0}});
    else if (alone - price <= reach)
      edges_.push_back({costs_.cols(), j, -1, {alone, -price, 0, 0}});
  }
}

BitRange bits_of(const std::vector<ResidualEdge>& edges) {
  BitRange bits;
  for (const ResidualEdge& e : edges)
    for (const double term : e.terms) bits.add(term);
  return bits;
}

}  // namespace motes::python
