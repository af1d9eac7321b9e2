#pragma once
/// Generated graphs for the cardinality problem and for greedy matching, described by a text. The same text
/// gives the same bits on every machine, for any number of threads.

#include <string_view>

#include <motes/base/execution.h>
#include <motes/matching/greedy_problem.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Generates the graph that a text beginning with "gen:" describes. All random numbers come from seed= (1).
///
///   gen:gated?n=1000000&degree=8&dims=3    two sets of n points uniform in a cube (dims=2: a square); an
///     edge joins points closer than a gate that gives `degree` neighbours on average; numbered as drawn
///   gen:rgg?n=&degree=&dims=2              a random geometric graph of one such set; numbered by position
///   gen:delaunay?n=                        the Delaunay triangulation of n random points of a square,
///     numbered along a Hilbert curve; dual=1: its triangles, about 2 n, joined if they share a side
///   gen:grid?nx=&ny=&keep=0.9              a square lattice; each site exists with probability keep
///   gen:hexagonal?nx=&ny=&keep=0.9         the same with a honeycomb: at most three neighbours
///   gen:road?n=                            like a road network: junctions of a thinned lattice, joined by
///     paths of several vertices, and dead ends; degree about 2.4, long paths
///   gen:erdos-renyi?rows=&cols=rows&degree=   each pair is an edge with probability degree / cols
///   gen:rmat?scale=&edges=16               2^scale rows and columns; `edges` draws a row from the recursive
///     matrix model with a=0.57&b=0.19&c=0.19 (Graph500; Azad et al. 2015: 0.45, 0.15, 0.15), repeats removed
///   gen:web?n=                             like a web graph: hosts and out-degrees of skewed size, three
///     links in four within the host and mostly to its first pages
///
/// as well as the structures of gen:uniform and gen:points (instances.h). permute=1 renumbers rows and
/// columns by two independent random permutations (the papers' row-and-column-permuted sets). An undirected
/// graph becomes the bipartite graph of its symmetric adjacency matrix, as in the papers. Throws UsageError
/// naming the fault of the text, and ResourceError if the graph does not fit into memory.
BipartiteGraph generate_graph(const Execution& execution, std::string_view text);

/// The same with weights, for greedy matching. In addition to the parameters above:
///
///   weights=random   floats in [0, 1), a function of seed and edge (the default)
///   weights=unit     no weights: every edge weighs 1
///   weights=distance of gated and rgg: 1 - distance / gate, so that the nearest is the heaviest
///   general=1        a general graph: of undirected families (rgg, delaunay, grid, hexagonal, road) the
///   graph itself; for others the one that to_general returns undirected=1     of square families: a general
///   graph with an edge between i and j if either lists the
///     other; entries (i, i) are omitted
///
/// permute=K, K >= 1, is the K-th of many permutations. The vertices of a general graph have one
/// permutation, and edges keep their weights. Throws as generate_graph does.
WeightedGraph generate_weighted_graph(const Execution& execution, std::string_view text);

}  // namespace motes::matching
