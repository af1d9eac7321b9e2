#include "io/problem_files.h"

#include "io/detail/matrix_market.h"
#include "io/detail/text.h"
#include "tracking/types/errors.h"

namespace motes::io {

ProblemFile read_problem(const std::filesystem::path& path) {
  const std::string start = detail::read_file_start(path, 16);
  ProblemFile out;
  if (start.starts_with("\x89HDF\r\n\x1a\n"))
    out = detail::read_problem_h5(path);
  else if (start.starts_with("\x1f\x8b") || detail::lower_case(start).starts_with("%%matrixmarket"))
    out = detail::read_matrix_market(path);
  else
    throw InputError(
        path.string() +
        ": no matching problem: neither MatrixMarket (its first line begins with %%MatrixMarket), "
        "nor HDF5; gen:... makes one (docs/matching.md)");
  try {
    matching::check_problem(matching::view_of(out.costs));
  } catch (const std::invalid_argument& error) {
    throw InputError(path.string() + ": " + error.what());
  }
  return out;
}

}  // namespace motes::io
