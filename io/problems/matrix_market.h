#pragma once
/// The readers and writers behind problem_files.h, for each format.

#include <filesystem>

#include <motes/io/problem_files.h>

namespace motes::io::detail {

/// Plain or gzip. Throws InputError (file:line).
ProblemFile read_matrix_market(const std::filesystem::path& path);
matching::BipartiteGraph read_matrix_market_graph(const std::filesystem::path& path);
matching::WeightedGraph read_matrix_market_weights(const std::filesystem::path& path);
void write_matrix_market(const std::filesystem::path& path, const matching::GreedyProblem& problem);

/// Problems in HDF5. Throws InputError (file and dataset).
ProblemFile read_problem_h5(const std::filesystem::path& path);
matching::BipartiteGraph read_graph_h5(const std::filesystem::path& path);

}  // namespace motes::io::detail
