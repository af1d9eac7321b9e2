#pragma once
/// The light edges of the residual graph of an assignment; optimality.h says what they mean.

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "python/src/optimality.h"
#include "python/src/wide_number.h"

namespace motes::python {

/// Rounding of ((c - v) - (a - w)) in doubles of magnitude up to 1.
inline constexpr double kRounding = 32 * std::numeric_limits<double>::epsilon();

/// The row of `from` takes `to` instead. The edge's weight is the sum of up to four doubles.
struct ResidualEdge {
  Index from, to;
  Index row;  ///< the row that takes `to`; -1: none, `to` becomes unmatched
  std::array<double, 4> terms;
};

/// Memory that is reused from call to call.
struct ResidualMemory {
  std::vector<ResidualEdge> edges;
  std::vector<double> held;
  std::vector<DoubleCosts::Entry> entries;
};

/// Node cols() is s. Edges of pairs come first, row by row, in ascending order of columns.
class ResidualGraph {
 public:
  /// The edges of weight up to `limit`, and perhaps some heavier ones.
  ResidualGraph(const DoubleCosts& costs, const PricedMatching& m, double limit, ResidualMemory& memory);
  const std::vector<ResidualEdge>& edges() const { return edges_; }
  Index nodes() const { return costs_.cols() + 1; }
  /// Whether there are so many edges that costs must be tied and many cycles have a weight near 0.
  bool has_ties() const { return edges_.size() > 8 * at(costs_.cols()) + 64; }

 private:
  double scale() const;
  void add_pairs(double reach);
  void add_alone_rows(double reach);
  void add_alone_cols(double reach);

  const DoubleCosts& costs_;
  const PricedMatching& m_;
  ResidualMemory& memory_;
  std::vector<ResidualEdge>& edges_;
};

/// Exponents of the edges' terms.
BitRange bits_of(const std::vector<ResidualEdge>& edges);

/// The edge's weight in steps of 2^lsb, which must divide all terms.
template <class Number>
Number weight_of(const ResidualEdge& edge, int lsb) {
  Number sum{};
  for (const double term : edge.terms) sum += on_grid<Number>(term, lsb);
  return sum;
}

}  // namespace motes::python
