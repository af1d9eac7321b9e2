/// Recognises the format of a problem file and dispatches to its reader.

#include <motes/base/errors.h>
#include <motes/io/problem_files.h>

#include "io/files/text.h"
#include "io/problems/matrix_market.h"

namespace motes::io {

namespace {

enum class Format { matrix_market, hdf5 };

/// The format by the file's content.
Format format_of(const std::filesystem::path& path) {
  const std::string start = detail::read_file_start(path, 16);
  if (start.starts_with("\x89HDF\r\n\x1a\n")) return Format::hdf5;
  if (start.starts_with("\x1f\x8b") || detail::lower_case(start).starts_with("%%matrixmarket"))
    return Format::matrix_market;
  throw InputError(
      path.string() +
      ": not a matching problem: neither MatrixMarket (its first line begins with %%MatrixMarket), "
      "nor HDF5; gen:... makes one (docs/library/problems.md)");
}

template <class Check>
void checked(const std::filesystem::path& path, const Check& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string() + ": " + error.what());
  }
}

}  // namespace

ProblemFile read_problem(const std::filesystem::path& path) {
  ProblemFile out =
      format_of(path) == Format::hdf5 ? detail::read_problem_h5(path) : detail::read_matrix_market(path);
  checked(path, [&] { matching::check_problem(matching::view_of(out.costs)); });
  return out;
}

matching::BipartiteGraph read_graph(const std::filesystem::path& path) {
  matching::BipartiteGraph graph =
      format_of(path) == Format::hdf5 ? detail::read_graph_h5(path) : detail::read_matrix_market_graph(path);
  checked(path, [&] { matching::check_graph(graph.view()); });
  return graph;
}

matching::WeightedGraph read_weighted_graph(const std::filesystem::path& path) {
  if (format_of(path) == Format::hdf5)
    throw InputError(path.string() +
                     ": HDF5 problems have costs; greedy matching reads weights from MatrixMarket");
  matching::WeightedGraph graph = detail::read_matrix_market_weights(path);
  checked(path, [&] { matching::check_problem(graph.view()); });
  return graph;
}

void write_weighted_graph(const std::filesystem::path& path, const matching::GreedyProblem& problem) {
  detail::write_matrix_market(path, problem);
}

}  // namespace motes::io
