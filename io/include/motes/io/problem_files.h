#pragma once
/// Matching problems in files: MatrixMarket (plain or gzip) and HDF5. docs/formats.md states both layouts.

#include <filesystem>

#include <motes/matching/greedy_problem.h>
#include <motes/matching/problem.h>

namespace motes::io {

struct ProblemFile {
  matching::Costs costs;   ///< dense or sparse; unmatched costs empty but where an HDF5 file has them
  bool symmetric = false;  ///< MatrixMarket `symmetric`: for greedy matching a general graph
};

/// Reads a problem by what the file's content says it is. MatrixMarket `array` is a dense matrix,
/// `coordinate` a sparse one in any order (absent: forbidden; `pattern`: all costs 0; symmetric: both
/// triangles). Integer entries stay integers, real ones lie on the grid of matching::fraction_bits_for. HDF5:
/// a two-dimensional dataset `cost`, or `row_offsets`, `col_index`, `cost` and the attribute `cols` for CSR;
/// `unmatched_row_cost` and `unmatched_col_cost` in the same unit, where present. Throws InputError with the
/// file, and the line where there is one: no such format, wrong counts, entries out of range or given twice,
/// what is no number, NaN.
ProblemFile read_problem(const std::filesystem::path& path);

/// Reads the structure alone, for the cardinality problem: of MatrixMarket `coordinate` files every entry is
/// an edge whatever its value (complex, skew-symmetric and hermitian files too), of matrices every entry that
/// is not +infinity; HDF5 CSR needs no `cost`. Throws InputError as read_problem does.
matching::BipartiteGraph read_graph(const std::filesystem::path& path);

/// Reads weights, for greedy matching: a MatrixMarket `symmetric` file is a general graph, its diagonal
/// ignored by matching, a `general` one bipartite; `coordinate` entries are the edges, and of `array` files
/// all pairs are; `pattern`: every edge weighs 1. Throws InputError with the file and the line, as above, and
/// for weights that are negative or infinite.
matching::WeightedGraph read_weighted_graph(const std::filesystem::path& path);

/// Writes such a file: `symmetric` of general graphs (the lower triangle, without loops), `general` of
/// bipartite ones. Weights are read back as the same doubles. The file appears whole or not at all. Host
/// problems.
void write_weighted_graph(const std::filesystem::path& path, const matching::GreedyProblem& problem);

}  // namespace motes::io
