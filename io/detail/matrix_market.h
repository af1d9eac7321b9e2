#pragma once
/// The halves of read_problem and read_graph.

#include <filesystem>

#include "io/problem_files.h"

namespace motes::io::detail {

/// Plain or gzip. Throws InputError (file:line).
ProblemFile read_matrix_market(const std::filesystem::path& path);
matching::BipartiteGraph read_matrix_market_graph(const std::filesystem::path& path);

/// The HDF5 half. Throws InputError (file and dataset).
ProblemFile read_problem_h5(const std::filesystem::path& path);
matching::BipartiteGraph read_graph_h5(const std::filesystem::path& path);

}  // namespace motes::io::detail
