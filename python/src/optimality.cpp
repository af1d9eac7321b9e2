#include "python/src/optimality.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <motes/base/stop.h>

#include "python/src/residual_graph.h"
#include "python/src/tied_assignment.h"

namespace motes::python {
namespace {

template <class Number>
struct PathMemory {
  std::vector<std::size_t> offsets, next;
  std::vector<std::uint32_t> order;
  std::vector<Number> weight, distance;
  std::vector<std::int64_t> parent;
  std::vector<Index> queue, later;
  std::vector<char> queued;
};

/// Shortest paths from all nodes, in exact arithmetic.
template <class Number>
class Paths {
 public:
  Paths(const ResidualGraph& graph, int lsb, PathMemory<Number>& memory)
      : graph_(graph),
        lsb_(lsb),
        memory_(memory),
        offsets_(memory.offsets),
        order_(memory.order),
        weight_(memory.weight),
        distance_(memory.distance),
        parent_(memory.parent) {
    const std::vector<ResidualEdge>& edges = graph.edges();
    const std::size_t nodes = at(graph.nodes());
    offsets_.assign(nodes + 1, 0);
    for (const ResidualEdge& e : edges) ++offsets_[at(e.from) + 1];
    for (std::size_t k = 0; k < nodes; ++k) offsets_[k + 1] += offsets_[k];
    order_.resize(edges.size());
    weight_.resize(edges.size());
    std::vector<std::size_t>& next = memory.next;
    next.assign(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const std::size_t place = next[at(edges[e].from)]++;
      order_[place] = static_cast<std::uint32_t>(e);
      weight_[place] = weight_of<Number>(edges[e], lsb);
    }
    distance_.assign(nodes, Number{});
    parent_.assign(nodes, -1);
  }

  /// The negative cycles, each a list of its edges in order.
  std::vector<std::vector<const ResidualEdge*>> negative_cycles() {
    std::vector<Index>&queue = memory_.queue, &later = memory_.later;
    std::vector<char>& queued = memory_.queued;
    queue.clear(), queued.assign(distance_.size(), 0);
    for (std::size_t k = 0; k + 1 < offsets_.size(); ++k)
      for (std::size_t p = offsets_[k]; p < offsets_[k + 1]; ++p)
        if (weight_[p] < Number{} && !queued[k]) queued[k] = 1, queue.push_back(static_cast<Index>(k));
    std::size_t relaxed = 0;
    const Stop stop = Stop::of_this_thread();
    while (!queue.empty()) {
      stop.check();
      later.clear();
      for (const Index k : queue) {
        queued[at(k)] = 0;
        relaxed += relax(k, queued, later);
      }
      queue.swap(later);
      if (relaxed >= distance_.size()) {
        relaxed = 0;
        if (auto cycles = parent_cycles(); !cycles.empty()) return cycles;
      }
    }
    return {};
  }
  /// The magnitude of the most negative distance.
  double span() const {
    Number least{};
    for (const Number& d : distance_)
      if (d < least) least = d;
    return -times_power(least, lsb_);
  }

 private:
  std::size_t relax(Index k, std::vector<char>& queued, std::vector<Index>& later) {
    std::size_t changes = 0;
    const std::vector<ResidualEdge>& edges = graph_.edges();
    for (std::size_t p = offsets_[at(k)]; p < offsets_[at(k) + 1]; ++p) {
      const Index to = edges[order_[p]].to;
      const Number there = distance_[at(k)] + weight_[p];
      if (!(there < distance_[at(to)])) continue;
      distance_[at(to)] = there;
      parent_[at(to)] = order_[p];
      ++changes;
      if (!queued[at(to)]) queued[at(to)] = 1, later.push_back(to);
    }
    return changes;
  }
  /// The cycles of parent pointers; all of them are negative.
  std::vector<std::vector<const ResidualEdge*>> parent_cycles() const {
    std::vector<std::vector<const ResidualEdge*>> cycles;
    std::vector<Index> seen(parent_.size(), -1);
    for (Index start = 0; at(start) < parent_.size(); ++start) {
      Index k = start;
      while (seen[at(k)] < 0 && parent_[at(k)] >= 0) {
        seen[at(k)] = start;
        k = edge_into(k)->from;
      }
      if (seen[at(k)] != start || parent_[at(k)] < 0) continue;
      std::vector<const ResidualEdge*> cycle;
      Index walk = k;
      do {
        cycle.push_back(edge_into(walk));
        walk = cycle.back()->from;
      } while (walk != k);
      cycles.push_back(std::move(cycle));
    }
    return cycles;
  }
  const ResidualEdge* edge_into(Index k) const {
    return &graph_.edges()[static_cast<std::size_t>(parent_[at(k)])];
  }

  const ResidualGraph& graph_;
  int lsb_;
  PathMemory<Number>& memory_;
  std::vector<std::size_t>& offsets_;
  std::vector<std::uint32_t>& order_;
  std::vector<Number>&weight_, &distance_;
  std::vector<std::int64_t>& parent_;
};

/// Applies the cycle to the matching: each node's row takes the next node.
void turn(const std::vector<const ResidualEdge*>& cycle, Index s, PricedMatching& m) {
  for (const ResidualEdge* e : cycle)
    if (e->to != s) m.col_to_row[at(e->to)] = e->row;
  for (const ResidualEdge* e : cycle)
    if (e->row >= 0) m.row_to_col[at(e->row)] = e->to == s ? -1 : e->to;
}

/// Renumbers the nodes of the edges consecutively; `ends` [2 * edges]: from, to. Returns the number of nodes.
std::size_t number_nodes(const std::vector<ResidualEdge>& edges, std::size_t nodes,
                         std::vector<Index>& ends) {
  ends.clear();
  for (const ResidualEdge& e : edges) ends.push_back(e.from), ends.push_back(e.to);
  if (16 * edges.size() > nodes) return nodes;
  static thread_local std::vector<Index> known;
  known = ends;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (Index& end : ends)
    end = static_cast<Index>(std::lower_bound(known.begin(), known.end(), end) - known.begin());
  return known.size();
}

/// Whether the edges form no cycle: removes nodes without incoming edges until none is left (Kahn 1962).
bool has_no_cycle(const ResidualGraph& graph) {
  static thread_local std::vector<Index> ends, incoming, first, targets, open;
  const std::size_t edges = graph.edges().size();
  const std::size_t nodes = number_nodes(graph.edges(), at(graph.nodes()), ends);
  incoming.assign(nodes, 0), first.assign(nodes + 1, 0), targets.resize(edges), open.clear();
  for (std::size_t e = 0; e < edges; ++e) ++first[at(ends[2 * e])], ++incoming[at(ends[2 * e + 1])];
  for (std::size_t k = 0; k < nodes; ++k) first[k + 1] += first[k];
  for (std::size_t e = 0; e < edges; ++e) targets[at(--first[at(ends[2 * e])])] = ends[2 * e + 1];
  first[nodes] = static_cast<Index>(edges);
  for (std::size_t k = 0; k < nodes; ++k)
    if (incoming[k] == 0) open.push_back(static_cast<Index>(k));
  for (std::size_t done = 0; done < open.size(); ++done)
    for (Index e = first[at(open[done])]; e < first[at(open[done]) + 1]; ++e)
      if (const Index to = targets[at(e)]; --incoming[at(to)] == 0) open.push_back(to);
  return open.size() == nodes;
}

/// True if the light edges form no cycle and one heavier edge outweighs the rounding errors of all other
/// edges of a cycle, so that no cycle is negative. `limit`: as in prove_optimal.
bool proven_at_a_glance(const DoubleCosts& costs, const PricedMatching& m, double limit,
                        ResidualMemory& memory) {
  double scale = costs.largest();
  for (const double v : m.v) scale = std::max(scale, std::abs(v));
  const double steps = static_cast<double>(costs.cols()) + 2;
  const double wide = steps * (limit / 8 + 4 * kRounding * scale);
  const double rounding = kRounding * (scale + wide);
  if (!(wide < scale / 4)) return false;
  const ResidualGraph graph(costs, m, wide, memory);
  if (graph.has_ties()) return false;
  double deepest = 0;
  for (const ResidualEdge& e : graph.edges())
    deepest = std::max(deepest, -((e.terms[0] + e.terms[1]) + (e.terms[2] + e.terms[3])));
  return wide > steps * (deepest + rounding) + rounding && has_no_cycle(graph);
}

struct Pass {
  std::int64_t turned = 0;
  double span = 0;
};

template <class Number>
Pass search(const ResidualGraph& graph, int lsb, PricedMatching& m) {
  static thread_local PathMemory<Number> memory;
  Paths<Number> paths(graph, lsb, memory);
  const auto cycles = paths.negative_cycles();
  if (cycles.empty()) return {0, paths.span()};
  for (const auto& cycle : cycles) turn(cycle, graph.nodes() - 1, m);
  return {static_cast<std::int64_t>(cycles.size()), 0};
}

}  // namespace

Proof prove_optimal(const Execution& execution, const DoubleCosts& costs, PricedMatching& m, double limit) {
  constexpr int kRoom = 126, kSumBits = 40;
  static thread_local ResidualMemory memory;
  Proof proof;
  if (proven_at_a_glance(costs, m, limit, memory)) return proof;
  while (true) {
    const ResidualGraph graph(costs, m, limit, memory);
    if (graph.has_ties()) {
      if (const auto tied = solve_tied(execution, costs, graph, m)) {
        proof.turned += tied->turned;
        if (tied->span * (1 + kRounding) <= limit) return proof;
        limit = 4 * tied->span;
        continue;
      }
    }
    const BitRange bits = bits_of(graph.edges());
    const int lsb = std::min(bits.low, 0);
    const bool wide = bits.high - lsb + kSumBits > kRoom;
    const Pass pass = wide ? search<WideInteger>(graph, lsb, m) : search<Int128>(graph, lsb, m);
    proof.wide = proof.wide || wide;
    proof.turned += pass.turned;
    if (pass.turned > 0) continue;
    if (pass.span * (1 + kRounding) <= limit) return proof;
    limit = 4 * pass.span;
  }
}

}  // namespace motes::python
