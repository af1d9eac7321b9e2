#pragma once
/// Families of weighted graphs for greedy matching, and the heaviest matching by brute force.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <motes/matching/greedy_problem.h>

namespace motes::testing {

struct WeightedInstance {
  std::string name;  ///< family, sizes and seed: enough to make it again
  matching::WeightedGraph graph;
};

using WeightedEdge = std::tuple<matching::Index, matching::Index, double>;  ///< ends, weight

/// Each edge once, from either end, in any order; of edges given twice the first counts. Self-loops stay.
matching::WeightedGraph general_graph(matching::Index vertices, std::vector<WeightedEdge> edges);
/// Edges as (row, column, weight).
matching::WeightedGraph bipartite_graph(matching::Index rows, matching::Index cols,
                                        std::vector<WeightedEdge> edges);

/// The same graph with weights of other types and sizes: "unit" (none), "equal", "few" (0, 1, 2), "float",
/// "double" (not floats), "small int64", "large int64" (not floats), "zero". Drawn from the ends of an edge
/// and the seed, so that both directions of an edge have the same.
inline constexpr std::string_view kWeightKinds[] = {"unit",   "equal",       "few",         "float",
                                                    "double", "small int64", "large int64", "zero"};
matching::WeightedGraph with_weights(matching::WeightedGraph graph, std::string_view kind,
                                     std::uint64_t seed);

/// General and bipartite graphs of up to that many vertices: empty, stars, paths whose weights rise (long
/// chains of dependence), cycles, complete ones, lattices, random ones of several degrees, with hubs and
/// isolated vertices; general ones some with self-loops. Weights as given there.
std::vector<WeightedInstance> weighted_graphs(matching::Index vertices, std::uint64_t seed);

/// The greatest weight of a matching, by dynamic programming over sets of vertices (at most 16).
double brute_force_weight(const matching::GreedyProblem& problem);

}  // namespace motes::testing
