#pragma once
/// Graph coarsening by matching, the main use of greedy matching in multilevel partitioning (Fagginger Auer &
/// Bisseling 2012, section 1).

#include <span>
#include <vector>

#include <motes/matching/greedy_solver.h>

namespace motes::matching {

/// A general graph in which each matched pair has become one vertex.
struct CoarseGraph {
  BipartiteGraph graph;               ///< general: both directions of an edge, no loops (v, v)
  std::vector<double> weights;        ///< [nnz] sums of the weights of the merged edges
  std::vector<double> vertex_weight;  ///< [vertices] sums of the weights of the merged vertices
  std::vector<Index> coarse_of;       ///< [fine vertices] the coarse vertex that contains it
  GreedyProblem view() const;
};

/// Merges each matched pair of a general graph in host memory (with backend cuda it is copied to the
/// device). `mate` [vertices], -1 = unmatched: the vertex becomes a coarse vertex by itself.
/// `vertex_weight` [vertices], or empty: 1 each.
///
/// Coarse vertices are numbered in the order of their lower fine vertex. Up to four fine edges become one
/// coarse edge: with l and g the lower and the higher fine vertex of each end (an unmatched vertex has
/// only l), its weight is (ll + gg) + (lg + gl), where a missing edge counts 0. Adding in this order gives
/// the same bits from both ends, on every back end and for any number of threads. A sum too large for a
/// double becomes infinite, and the next level rejects it. Throws std::invalid_argument if the problem is
/// malformed or `mate` is not a matching of it. O(vertices + nnz log degree).
CoarseGraph coarsen(const Execution& execution, const GreedyProblem& problem, std::span<const Index> mate,
                    std::span<const double> vertex_weight = {});

/// The edge rating by which the pairs of a level are chosen. It does not change the weights of the coarse
/// graph.
enum class CoarsenBy {
  weight,  ///< the edge's weight, as in the paper; heavy vertices keep growing and become the centres of
           ///< stars
  /// The edge's weight divided by the weights of both end vertices (Holtgrewe, Sanders & Schulz 2010
  /// compare such ratings), which keeps vertex weights even. The same as `weight` on the first level if
  /// vertices weigh 1.
  density,
};

/// When a hierarchy ends, and how its pairs are chosen.
struct CoarsenSettings {
  Index vertices = 1;          ///< a graph with at most this many vertices is coarse enough
  double least_shrink = 0.95;  ///< ends after a level that keeps more than this share of the vertices
  CoarsenBy by = CoarsenBy::weight;
};

/// Coarser and coarser graphs, finest first, each from a matching by `solver`, until one has at most
/// `vertices` vertices or keeps more than the share `least_shrink` of the level before. General graphs. If
/// the problem is in device memory, or the back end is cuda, all levels are computed on the device.
std::vector<CoarseGraph> coarsen_to(const Execution& execution, const GreedyProblem& problem,
                                    const GreedySolver& solver, Index vertices, double least_shrink = 0.95,
                                    CoarsenBy by = CoarsenBy::weight);

struct CoarseSize {
  Index vertices;
  Offset entries;  ///< twice the number of edges
};

/// The last level of a hierarchy.
struct Coarsest {
  std::vector<CoarseSize> levels;  ///< the sizes of all levels; empty if the problem is coarse enough already
  CoarseGraph graph;  ///< the last level, or empty; coarse_of maps the vertices of the original problem
};

/// As coarsen_to(), but keeps only the last level: the others are freed as soon as the next one exists, and
/// with backend cuda never leave the device.
Coarsest coarsest_of(const Execution& execution, const GreedyProblem& problem, const GreedySolver& solver,
                     const CoarsenSettings& settings);

}  // namespace motes::matching
