/// HDF5 problems: a dense dataset `cost`, or the three arrays of CSR.

#include <algorithm>
#include <array>
#include <cmath>

#include <motes/base/errors.h>
#include <motes/base/memory.h>

#include "io/hdf5/h5.h"
#include "io/problems/matrix_market.h"

namespace motes::io::detail {
namespace {

using matching::Cost;
using matching::Index;

/// The two-dimensional dataset `cost` in the number type it was written in (floats to float or double, whole
/// numbers to int32 or int64), of any byte order.
class DenseReader {
 public:
  explicit DenseReader(const std::filesystem::path& path) : path_(path.string()) {
    h5::silence();
    file_ = h5::Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file_) fail("cannot be opened as HDF5: " + h5::last_error());
    dataset_ = h5::Handle(H5Dopen2(file_.id(), "cost", H5P_DEFAULT), H5Dclose);
    if (!dataset_) fail("dataset 'cost' cannot be opened: " + h5::last_error());
    const h5::Handle space(H5Dget_space(dataset_.id()), H5Sclose);
    rank_ = H5Sget_simple_extent_ndims(space.id());
    if (rank_ == 2) H5Sget_simple_extent_dims(space.id(), shape_.data(), nullptr);
  }

  bool is_matrix() const { return rank_ == 2; }

  matching::DenseCosts read() const {
    matching::DenseCosts out;
    for (const hsize_t length : shape_)
      if (length > static_cast<hsize_t>(std::numeric_limits<Index>::max() - 1))
        fail("'cost' has more than 2^31 - 2 rows or columns");
    out.rows = static_cast<Index>(shape_[0]);
    out.cols = static_cast<Index>(shape_[1]);
    const h5::Handle type(H5Dget_type(dataset_.id()), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.id());
    const std::size_t bytes = H5Tget_size(type.id());
    if (kind == H5T_FLOAT && bytes <= 4)
      out.entries = values<float>(H5T_NATIVE_FLOAT);
    else if (kind == H5T_FLOAT)
      out.entries = values<double>(H5T_NATIVE_DOUBLE);
    else if (kind == H5T_INTEGER && (bytes < 4 || (bytes == 4 && H5Tget_sign(type.id()) == H5T_SGN_2)))
      out.entries = values<std::int32_t>(H5T_NATIVE_INT32);
    else if (kind == H5T_INTEGER)
      out.entries = values<std::int64_t>(H5T_NATIVE_INT64);
    else
      fail("'cost' holds no numbers");
    double largest = 0;
    std::visit(
        [&](const auto& all) {
          for (const auto c : all)
            if (std::isfinite(static_cast<double>(c)))
              largest = std::max(largest, std::abs(static_cast<double>(c)));
        },
        out.entries);
    if (kind == H5T_FLOAT) out.fraction_bits = matching::fraction_bits_for(largest, out.rows, out.cols);
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_ + ": " + what); }

  template <class T>
  std::vector<T> values(hid_t memory_type) const {
    // A damaged header may claim any shape; what was never written takes no room and is not a problem.
    const hsize_t count = shape_[0] * shape_[1];
    if (shape_[0] > 0 && (count / shape_[0] != shape_[1] ||
                          count * H5Tget_size(memory_type) / 2000 > H5Dget_storage_size(dataset_.id()) + 1))
      fail("'cost' claims more entries than the file can hold");
    require_memory(static_cast<double>(count) * sizeof(T), path_ + ": the matrix");
    std::vector<T> out(static_cast<std::size_t>(count));
    if (count > 0 && H5Dread(dataset_.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()) < 0)
      fail("'cost' cannot be read: " + h5::last_error());
    return out;
  }

  std::string path_;
  h5::Handle file_, dataset_;
  int rank_ = 0;
  std::array<hsize_t, 2> shape_{0, 0};
};

/// Unmatched costs in the problem's own unit; +infinity: must be matched.
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
      file.fail("cost[" + std::to_string(e) + "] is not finite (leave a forbidden pair out)");
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
    file.fail("holds no matching problem: a dataset 'cost' is missing (docs/formats.md has the layout)");
  ProblemFile out;
  const DenseReader dense(path);
  if (dense.is_matrix())
    out.costs = dense.read();
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
    file.fail("holds no graph: neither 'row_offsets' and 'col_index' nor 'cost' are there (docs/formats.md)");
  return matching::to_sparse(matching::view_of(read_problem_h5(path).costs)).graph;
}

}  // namespace motes::io::detail
