#pragma once
/// Coarser graphs from matchings: what greedy matching is for in multilevel partitioning (Fagginger Auer &
/// Bisseling 2012, section 1).

#include <span>
#include <vector>

#include <motes/matching/greedy_solver.h>

namespace motes::matching {

/// A general graph with its matched pairs merged into one vertex each.
struct CoarseGraph {
  BipartiteGraph graph;               ///< general: both directions listed, no (v, v)
  std::vector<double> weights;        ///< [nnz] sums of the merged edges' weights
  std::vector<double> vertex_weight;  ///< [vertices] sums of the merged vertices' weights
  std::vector<Index> coarse_of;       ///< [fine vertices] the coarse vertex that each is in
  GreedyProblem view() const;
};

/// Coarse vertices are numbered in the order of the lesser fine vertex of each. At most four edges become
/// one: with l the lesser and g the greater vertex of the pairs (a vertex that stays alone is its own lesser
/// one), the weight is (ll + gg) + (lg + gl), absent ones 0: the same bits from both ends, on every back end
/// and for any number of threads. A weight too large for a double is infinite, and the next level refuses it.
/// `mate` [vertices], -1 = stays alone. `vertex_weight` [vertices], or empty: 1 each. General graphs in host
/// memory (backend cuda brings them over). Throws std::invalid_argument where the problem is malformed or
/// `mate` is not a matching of it. O(vertices + nnz log degree).
CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight = {});

/// What the edges of a level weigh where its pairs are chosen. The weights of coarse graphs are sums all the
/// same.
enum class CoarsenBy {
  weight,  ///< their weight, as the paper has it: the heaviest vertices grow on, and leave stars about them
  /// Their weight divided by both ends' vertex weights (Holtgrewe, Sanders & Schulz 2010 compare such
  /// ratings): vertices stay of like weight. The first level, where all vertices weigh 1, is the same.
  density,
};

/// When a hierarchy ends, and how its pairs are chosen.
struct CoarsenSettings {
  Index vertices = 1;          ///< enough: no level is made of a graph with as many or fewer
  double least_shrink = 0.95;  ///< a level of more than this share of the vertices before is the end
  CoarsenBy by = CoarsenBy::weight;
};

/// Levels of coarser and coarser graphs, each matched by `solver`, until at most `vertices` are left or a
/// level shrinks the graph by less than `least_shrink` (.95: to more than 95 % of its vertices). General
/// graphs; of problems in device memory, or with backend cuda, levels are made on the device, one of the
/// other without a way through host memory.
std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, Index vertices, double least_shrink = 0.95,
                                    CoarsenBy by = CoarsenBy::weight);

struct CoarseSize {
  Index vertices;
  Offset entries;  ///< both directions of an edge
};

/// The end of a hierarchy.
struct Coarsest {
  std::vector<CoarseSize> levels;  ///< sizes of all of them; empty where the problem is coarse enough
  CoarseGraph graph;  ///< the last level, empty where there is none; coarse_of of the problem's vertices
};

/// The last level of coarsen_to() alone: others are forgotten once the next is made, and with backend cuda
/// never leave the device.
Coarsest coarsest_of(const Execution& execution, const GreedyProblem& problem, const GreedySolver& solver,
                     const CoarsenSettings& settings);

}  // namespace motes::matching
