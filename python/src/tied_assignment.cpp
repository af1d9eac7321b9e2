#include "python/src/tied_assignment.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <motes/matching/registry.h>

namespace motes::python {
namespace {

using matching::Cost;
using matching::kInfiniteCost;

/// The weights of the edges, in steps of 2^lsb.
struct Weights {
  int lsb = 0;
  std::vector<Cost> of;
  bool any_negative = false;
};

std::optional<Weights> weights_of(const ResidualGraph& graph, Index vertices) {
  constexpr int kRoom = 126, kCostBits = 58;
  const BitRange bits = bits_of(graph.edges());
  Weights weights;
  weights.lsb = std::min(bits.low, 0);
  if (bits.high - weights.lsb + 3 > kRoom) return std::nullopt;
  const Int128 most = Int128{1} << (kCostBits - std::bit_width(static_cast<std::uint32_t>(vertices)));
  weights.of.reserve(graph.edges().size());
  for (const ResidualEdge& e : graph.edges()) {
    const Int128 weight = weight_of<Int128>(e, weights.lsb);
    if (weight > most || weight < -most) return std::nullopt;
    weights.of.push_back(static_cast<Cost>(weight));
    weights.any_negative = weights.any_negative || weight < 0;
  }
  return weights;
}

/// Costs equal to the edges' weights; those of M's pairs and unmatched rows are 0.
class LightCosts {
 public:
  LightCosts(const DoubleCosts& costs, const ResidualGraph& graph, const Weights& weights,
             const PricedMatching& m)
      : row_alone_(at(costs.rows()), kInfiniteCost), col_alone_(at(costs.cols()), kInfiniteCost) {
    const std::vector<ResidualEdge>& edges = graph.edges();
    const Index s = costs.cols();
    offsets_.reserve(at(costs.rows()) + 1);
    cols_.reserve(edges.size() + at(costs.rows())), cost_.reserve(edges.size() + at(costs.rows()));
    std::size_t e = 0;
    for (Index i = 0; i < costs.rows(); ++i) {
      Index pair = m.row_to_col[at(i)];
      if (pair < 0) row_alone_[at(i)] = 0;
      for (; e < edges.size() && edges[e].row == i && edges[e].to != s; ++e) {
        if (pair >= 0 && pair < edges[e].to) add(pair, 0), pair = -1;
        add(edges[e].to, weights.of[e]);
      }
      if (pair >= 0) add(pair, 0);
      offsets_.push_back(static_cast<Offset>(cols_.size()));
    }
    for (; e < edges.size(); ++e) {
      const ResidualEdge& edge = edges[e];
      if (edge.row >= 0)
        row_alone_[at(edge.row)] = weights.of[e];
      else if (edge.to == s)
        col_alone_[at(edge.from)] = -weights.of[e];
      else
        col_alone_[at(edge.to)] = weights.of[e];
    }
  }
  matching::SparseCostsView view() const {
    return {{static_cast<Index>(row_alone_.size()), static_cast<Index>(col_alone_.size()), offsets_, cols_},
            cost_,
            given(row_alone_),
            given(col_alone_)};
  }

 private:
  void add(Index col, Cost weight) { cols_.push_back(col), cost_.push_back(weight); }
  static std::span<const Cost> given(const std::vector<Cost>& alone) {
    const bool none = std::all_of(alone.begin(), alone.end(), [](Cost c) { return c == kInfiniteCost; });
    return none ? std::span<const Cost>() : alone;
  }
  std::vector<Offset> offsets_{0};
  std::vector<Index> cols_;
  std::vector<Cost> cost_, row_alone_, col_alone_;
};

/// The largest sum of duals of an edge that is left out.
double span_of(const DoubleCosts& costs, const matching::SparseCostsView& light,
               const matching::Duals& duals) {
  const auto largest = [](const std::vector<Cost>& side) {
    return side.empty() ? 0.0 : static_cast<double>(*std::max_element(side.begin(), side.end()));
  };
  double span = std::max(0.0, largest(duals.u) + largest(duals.v));
  for (Index i = 0; i < costs.rows(); ++i)
    if (costs.row_cost(i) != kNone && light.row_cost(i) == kInfiniteCost)
      span = std::max(span, static_cast<double>(duals.u[at(i)]));
  for (Index j = 0; j < costs.cols(); ++j)
    if (costs.col_cost(j) != kNone && light.col_cost(j) == kInfiniteCost)
      span = std::max(span, static_cast<double>(duals.v[at(j)]));
  return span;
}

/// The sum of the duals, which equals the least sum of weights.
Cost sum_of(const matching::Duals& duals) {
  return std::reduce(duals.u.begin(), duals.u.end(), Cost{0}) +
         std::reduce(duals.v.begin(), duals.v.end(), Cost{0});
}

/// The sum of weights of M, whose pairs have the weight 0.
Cost sum_of(const PricedMatching& m, const matching::SparseCostsView& light) {
  Cost sum = 0;
  for (Index j = 0; j < light.graph.cols; ++j)
    if (m.col_to_row[at(j)] < 0) sum += light.col_cost(j);
  return sum;
}

/// The number of cycles in which two matchings differ. A path between vertices that are unmatched in one of
/// them counts as a cycle.
std::int64_t count_differences(const PricedMatching& before, const matching::Matching& after) {
  const auto rows = static_cast<Index>(before.row_to_col.size());
  std::vector<char> seen(at(rows), 0);
  std::int64_t count = 0;
  for (Index start = 0; start < rows; ++start) {
    if (seen[at(start)] || before.row_to_col[at(start)] == after.row_to_col[at(start)]) continue;
    ++count;
    const auto walk = [&](const std::vector<Index>& leave, const std::vector<Index>& enter) {
      Index i = start;
      do {
        seen[at(i)] = 1;
        const Index j = leave[at(i)];
        i = j < 0 ? -1 : enter[at(j)];
      } while (i >= 0 && !seen[at(i)]);
    };
    walk(after.row_to_col, before.col_to_row);
    walk(before.row_to_col, after.col_to_row);
  }
  return count;
}

}  // namespace

std::optional<TiedAnswer> solve_tied(const Execution& execution, const DoubleCosts& costs,
                                     const ResidualGraph& graph, PricedMatching& m) {
  const std::optional<Weights> weights = weights_of(graph, costs.rows() + costs.cols());
  if (!weights) return std::nullopt;
  if (!weights->any_negative) return TiedAnswer{};
  const LightCosts light(costs, graph, *weights, m);
  const matching::SparseCostsView problem = light.view();
  matching::Matching found = matching::choose_solver(problem).info->make()->solve(execution, problem);
  if (found.status != matching::Status::optimal) throw std::logic_error("the solver gave no optimum");
  TiedAnswer answer;
  answer.span = std::ldexp(span_of(costs, problem, found.duals), weights->lsb);
  if (sum_of(found.duals) == sum_of(m, problem)) return answer;
  answer.turned = count_differences(m, found);
  m.row_to_col = std::move(found.row_to_col);
  m.col_to_row = std::move(found.col_to_row);
  return answer;
}

}  // namespace motes::python
