#pragma once
/// Matching problems in files: MatrixMarket (plain or gzip) and HDF5. docs/formats.md describes both layouts.

#include <filesystem>

#include <motes/matching/greedy_problem.h>
#include <motes/matching/problem.h>

namespace motes::io {

struct ProblemFile {
  matching::Costs costs;   ///< dense or sparse; unmatched costs only if an HDF5 file has them
  bool symmetric = false;  ///< MatrixMarket `symmetric`: a general graph in greedy matching
};

/// Reads an assignment problem; the format is recognised by content. MatrixMarket: `array` is a dense
/// matrix, `coordinate` a sparse one with entries in any order (a missing entry is forbidden; `pattern`:
/// all costs are 0; `symmetric`: both triangles). Integer entries stay integers; real ones are rounded to
/// the grid of matching::fraction_bits_for. HDF5: a two-dimensional dataset `cost`, or for CSR
/// `row_offsets`, `col_index`, `cost` and the attribute `cols`; optionally `unmatched_row_cost` and
/// `unmatched_col_cost` in the same unit. Throws InputError with the file, and the line if there is one,
/// for an unknown format, wrong counts, entries out of range or repeated, NaN, and text that is not a
/// number.
ProblemFile read_problem(const std::filesystem::path& path);

/// Reads only the structure, for the cardinality problem. In MatrixMarket `coordinate` files every entry is
/// an edge whatever its value (complex, skew-symmetric and hermitian files are accepted too); in matrices,
/// every entry other than +infinity. HDF5 CSR needs no `cost`. Throws InputError as read_problem does.
matching::BipartiteGraph read_graph(const std::filesystem::path& path);

/// Reads a weighted graph, for greedy matching. A MatrixMarket `symmetric` file is a general graph, whose
/// diagonal is ignored; a `general` one is bipartite. The edges are the entries of `coordinate` files and
/// all pairs of `array` files; with `pattern` every edge weighs 1. Throws InputError as read_problem does,
/// and for negative or infinite weights.
matching::WeightedGraph read_weighted_graph(const std::filesystem::path& path);

/// Writes a MatrixMarket file: `symmetric` for general graphs (the lower triangle, without loops),
/// `general` for bipartite ones. Weights read back as the same doubles. The file appears whole or not at
/// all. Host problems only. Throws ResourceError for errors of the disk.
void write_weighted_graph(const std::filesystem::path& path, const matching::GreedyProblem& problem);

}  // namespace motes::io
