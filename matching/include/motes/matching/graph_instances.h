#pragma once
/// Generated graphs for the cardinality problem and for greedy matching, named by a text: the same text gives
/// the same bits on every machine, for any number of threads.

#include <string_view>

#include <motes/base/execution.h>
#include <motes/matching/greedy_problem.h>
#include <motes/matching/problem.h>

namespace motes::matching {

/// Makes the graph that a text beginning with "gen:" names. All random numbers come from seed= (1).
///
///   gen:gated?n=1000000&degree=8&dims=3    two frames of n points uniform in a cube (dims=2: a square),
///     joined where closer than a gate that gives `degree` neighbours on the mean; numbered as drawn
///   gen:rgg?n=&degree=&dims=2              a random geometric graph: one such set; numbered by place
///   gen:delaunay?n=                        the Delaunay triangulation of n random points of a square, which
///     are numbered along a Hilbert curve; dual=1: its triangles, about 2 n, joined where they share a side
///   gen:grid?nx=&ny=&keep=0.9              a square lattice; each site is there with probability keep
///   gen:hexagonal?nx=&ny=&keep=0.9         a honeycomb likewise: at most three neighbours
///   gen:road?n=                            junctions of a thinned lattice, roads of some vertices between
///     them, dead ends: degree about 2.4, long paths
///   gen:erdos-renyi?rows=&cols=rows&degree=   each pair is an edge with probability degree / cols
///   gen:rmat?scale=&edges=16               2^scale rows and columns, `edges` draws a row of the recursive
///     matrix model with a=0.57&b=0.19&c=0.19 (Graph500; Azad et al. 2015: 0.45, 0.15, 0.15), each counted
///     once
///   gen:web?n=                             pages and links: hosts and out-degrees of skewed size, most
///     links (three in four) within the host, to its first pages most often
///
/// and, as structures, gen:uniform and gen:points of instances.h. permute=1 renumbers rows and columns,
/// each at random and apart (the papers' row-and-column-permuted sets). An undirected graph becomes the rows
/// and columns of its symmetric adjacency matrix, as in the papers. Throws UsageError naming what is wrong
/// with the text, and ResourceError where memory cannot hold the graph.
BipartiteGraph generate_graph(const Execution& execution, std::string_view text);

/// The same with weights, for greedy matching. Beside the parameters above:
///
///   weights=random   floats in [0, 1), drawn from the ends of an edge (the default)
///   weights=unit     no weights: every edge weighs 1
///   weights=distance of gated and rgg: 1 - distance / gate, so that the nearest is the heaviest
///   general=1        a general graph in place of rows and columns: of undirected families (rgg, delaunay,
///     grid, hexagonal, road) that graph itself, of others as to_general makes it
///   undirected=1     of square families: a general graph that joins i and j where either of them lists the
///     other; entries (i, i) are left out
///
/// permute=K, K from 1 on, is the K-th of many permutations; the vertices of a general graph are renumbered
/// once, and edges keep their weights. Throws as above.
WeightedGraph generate_weighted_graph(const Execution& execution, std::string_view text);

}  // namespace motes::matching
