/// HDF5 problems: a dense dataset `cost`, or the three arrays of CSR.

#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/base/errors.h>
#include <motes/base/memory.h>

#include "io/hdf5/h5.h"
#include "io/problems/matrix_market.h"

namespace motes::io::detail {
namespace {

using matching::Cost;
using matching::Index;

template <class T>
std::vector<T> entries(const h5::Reader& file, const h5::DatasetInfo& info, h5::Number as) {
  require_memory(static_cast<double>(info.values()) * sizeof(T), "the matrix 'cost'");
  std::vector<T> out(static_cast<std::size_t>(info.values()));
  file.read("cost", as, std::as_writable_bytes(std::span(out)));
  return out;
}

/// The two-dimensional dataset `cost` in its own kind of number (floats as float or double, integers as int32
/// or int64), in any byte order.
matching::DenseCosts read_dense(const h5::Reader& file, const h5::DatasetInfo& info) {
  using h5::Number;
  matching::DenseCosts out;
  for (const std::int64_t length : info.shape)
    if (length > std::numeric_limits<Index>::max() - 1)
      file.fail("'cost' has more than 2^31 - 2 rows or columns");
  out.rows = static_cast<Index>(info.shape[0]);
  out.cols = static_cast<Index>(info.shape[1]);
  if (info.type == Number::f32)
    out.entries = entries<float>(file, info, Number::f32);
  else if (info.type == Number::f64)
    out.entries = entries<double>(file, info, Number::f64);
  else if (h5::size_of(info.type) < 4 || info.type == Number::i32)
    out.entries = entries<std::int32_t>(file, info, Number::i32);
  else
    out.entries = entries<std::int64_t>(file, info, Number::i64);
  double largest = 0;
  std::visit(
      [&](const auto& all) {
        for (const auto c : all)
          if (std::isfinite(static_cast<double>(c)))
            largest = std::max(largest, std::abs(static_cast<double>(c)));
      },
      out.entries);
  if (h5::is_float(info.type)) out.fraction_bits = matching::fraction_bits_for(largest, out.rows, out.cols);
  return out;
}

/// Unmatched costs in the problem's unit; +infinity: must be matched.
std::vector<Cost> unmatched(const h5::Reader& file, const std::string& name, int fraction_bits) {
  std::vector<Cost> out;
  if (!file.has(name)) return out;
  for (const double value : file.doubles(name)) try {
      out.push_back(matching::to_grid(value, fraction_bits));
    } catch (const std::invalid_argument& error) {
      file.fail(name + "[" + std::to_string(out.size()) + "]: " + error.what());
    }
  return out;
}

matching::BipartiteGraph read_structure(const h5::Reader& file) {
  matching::BipartiteGraph graph;
  graph.row_offsets = file.int64s("row_offsets");
  graph.col_index = file.int32s("col_index");
  const auto cols = file.number_attribute("cols");
  if (!cols || !(*cols >= 0 && *cols < 0x1p31 - 1) || *cols != std::floor(*cols))
    file.fail("a CSR problem needs the attribute 'cols', its number of columns");
  if (graph.row_offsets.empty() || graph.row_offsets.size() > 0x7fffffffU)
    file.fail("'row_offsets' must have rows + 1 entries");
  graph.rows = static_cast<Index>(graph.row_offsets.size()) - 1;
  graph.cols = static_cast<Index>(*cols);
  return graph;
}

matching::SparseCosts read_csr(const h5::Reader& file) {
  matching::SparseCosts out;
  out.graph = read_structure(file);
  const std::vector<double> cost = file.doubles("cost");
  double largest = 0;
  bool whole = true;
  for (std::size_t e = 0; e < cost.size(); ++e) {
    if (!std::isfinite(cost[e]))
      file.fail("cost[" + std::to_string(e) + "] is not finite (omit forbidden pairs)");
    largest = std::max(largest, std::abs(cost[e]));
    whole = whole && cost[e] == std::floor(cost[e]);
  }
  if (!whole || largest > 0x1p50)
    out.fraction_bits = matching::fraction_bits_for(largest, out.graph.rows, out.graph.cols);
  for (const double c : cost) out.cost.push_back(matching::to_grid(c, out.fraction_bits));
  return out;
}

}  // namespace

ProblemFile read_problem_h5(const std::filesystem::path& path) {
  const h5::Reader file(path);
  if (!file.has("cost"))
    file.fail("has no matching problem: the dataset 'cost' is missing (docs/formats.md has the layout)");
  ProblemFile out;
  const auto cost = file.dataset("cost");
  if (!cost) file.fail("'cost' is not a dataset");
  if (cost->shape.size() == 2)
    out.costs = read_dense(file, *cost);
  else
    out.costs = read_csr(file);
  std::visit(
      [&](auto& costs) {
        costs.unmatched_row_cost = unmatched(file, "unmatched_row_cost", costs.fraction_bits);
        costs.unmatched_col_cost = unmatched(file, "unmatched_col_cost", costs.fraction_bits);
      },
      out.costs);
  return out;
}

matching::BipartiteGraph read_graph_h5(const std::filesystem::path& path) {
  const h5::Reader file(path);
  if (file.has("row_offsets") && file.has("col_index")) return read_structure(file);
  if (!file.has("cost"))
    file.fail("has no graph: neither 'row_offsets' and 'col_index' nor 'cost' exist (docs/formats.md)");
  return matching::to_sparse(matching::view_of(read_problem_h5(path).costs)).graph;
}

}  // namespace motes::io::detail
