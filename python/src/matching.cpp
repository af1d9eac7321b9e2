// SciPy's matching functions, and the exact solver behind them with unmatched costs and duals.

#include <algorithm>
#include <cmath>

#include <motes/base/execution.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/registry.h>

#include "python/src/builtin_function.h"
#include "python/src/double_assignment.h"
#include "python/src/interruptible.h"
#include "python/src/numpy_arrays.h"
#include "python/src/python.h"
#include "python/src/small_cardinality.h"

namespace motes::python {
namespace {

/// Up to this many entries solve_small is faster than the code for large problems.
constexpr std::size_t kSmallEntries = 1 << 19;
/// The same limit if one side has more than 4 times as many vertices as the other.
constexpr std::size_t kSmallWideEntries = 1 << 18;
/// From this many entries the interpreter lock (GIL) is released.
constexpr std::size_t kUnlockedEntries = 64 * 64;
/// From this many entries several threads are faster than one.
constexpr std::size_t kThreadedEntries = 512 * 512;
/// The same limit for the edges of a cardinality problem.
constexpr std::size_t kThreadedEdges = 1 << 22;
/// From this many entries Ctrl-C interrupts a solve; smaller ones end before a user can press it.
constexpr std::size_t kLongEntries = 1 << 18;
/// Up to this many edges SmallCardinality is faster than the choice of a solver.
constexpr std::size_t kSmallEdges = 1 << 12;

/// Copies the values, which is faster than to_numpy for small arrays.
nb::object to_small_array(const std::vector<Index>& values) {
  std::int32_t* data = nullptr;
  nb::object array = new_array(values.size(), data);
  std::copy(values.begin(), values.end(), data);
  return array;
}

/// The Python function that converts matrices of other types and libraries; set when the package is loaded,
/// never freed.
PyObject* as_matrix = nullptr;

/// Matched pairs by ascending row, as SciPy returns them. `col_of` [rows]; -1: unmatched.
template <class ColOf>
nb::object pairs_of(Index rows, Index pairs, const ColOf& col_of) {
  std::ptrdiff_t *r = nullptr, *c = nullptr;
  nb::object row = new_array(at(pairs), r), col = new_array(at(pairs), c);
  for (Index i = 0; i < rows; ++i)
    if (const Index j = col_of(i); j >= 0) *r++ = i, *c++ = j;
  PyObject* both = PyTuple_New(2);
  PyTuple_SetItem(both, 0, row.release().ptr());
  PyTuple_SetItem(both, 1, col.release().ptr());
  return nb::steal(both);
}

/// Copies the matrix row by row, multiplied by `sign`, and transposed if `transposed`, so that rows <= cols.
void copy_wide(const StridedMatrix& m, double sign, bool transposed, double* to) {
  const Index rows = transposed ? m.cols : m.rows, cols = transposed ? m.rows : m.cols;
  const std::ptrdiff_t down = transposed ? m.col_step : m.row_step,
                       along = transposed ? m.row_step : m.col_step;
  for (Index i = 0; i < rows; ++i) {
    const double* from = m.data + i * down;
    for (Index j = 0; j < cols; ++j) *to++ = sign * from[j * along];
  }
}

/// Runs `work` without the GIL; Ctrl-C interrupts it if there are so many entries that it may take long.
template <class Work>
void long_or_short(std::size_t entries, const Work& work) {
  if (entries < kLongEntries) {
    const nb::gil_scoped_release unlocked;
    work();
  } else {
    interruptible([&] {
      work();
      return true;
    });
  }
}

[[noreturn]] void infeasible() { throw nb::value_error("cost matrix is infeasible"); }
void require_valid(const Survey& found) {
  if (!found.valid) throw nb::value_error("matrix contains invalid numeric entries");
}

/// Whether the matrix can be read in place: it is row-major and needs no change of sign.
bool lies_ready(const StridedMatrix& m, double sign) {
  return sign > 0 && m.col_step == 1 && m.row_step == m.cols;
}

/// Whether assign_small is faster.
bool is_small(const StridedMatrix& m) {
  const auto few = static_cast<std::size_t>(std::min(m.rows, m.cols)),
             many = static_cast<std::size_t>(std::max(m.rows, m.cols));
  const bool wide = many > 4 * few;
  return few * many <= (wide ? kSmallWideEntries : kSmallEntries);
}

nb::object assign_small(const StridedMatrix& m, double sign) {
  static thread_local std::vector<double> copy;
  static thread_local std::vector<Index> row_to_col, col_to_row;
  const bool transposed = m.rows > m.cols;
  const std::size_t n = at(m.rows) * at(m.cols);
  DenseDoubles wide{m.data, std::min(m.rows, m.cols), std::max(m.rows, m.cols)};
  if (transposed || !lies_ready(m, sign)) {
    copy.resize(n);
    copy_wide(m, sign, transposed, copy.data());
    wide.data = copy.data();
  }
  Survey found;
  bool feasible = false;
  const auto solve = [&] {
    found = survey({wide.data, n}, 1);
    feasible = found.valid && solve_small(wide, found, row_to_col);
  };
  if (n < kUnlockedEntries) {
    solve();
  } else {
    const nb::gil_scoped_release unlocked;
    solve();
  }
  require_valid(found);
  if (!feasible) infeasible();
  if (!transposed) return pairs_of(m.rows, wide.rows, [](Index i) { return row_to_col[at(i)]; });
  col_to_row.assign(at(m.rows), -1);
  for (Index j = 0; j < wide.rows; ++j) col_to_row[at(row_to_col[at(j)])] = j;
  return pairs_of(m.rows, wide.rows, [](Index i) { return col_to_row[at(i)]; });
}

nb::object assign_large(const StridedMatrix& m, double sign) {
  // A column-major matrix is read as its transpose.
  const bool transposed = m.col_step != 1 && m.row_step == 1;
  const Index rows = transposed ? m.cols : m.rows, cols = transposed ? m.rows : m.cols;
  const std::size_t n = at(rows) * at(cols);
  const std::ptrdiff_t step = transposed ? m.col_step : m.row_step;
  const bool as_it_is = sign > 0 && (transposed || m.col_step == 1) && step == cols;
  const DoubleAnswer answer = interruptible([&] {
    DoubleAnswer out;
    std::vector<double> copy;
    if (!as_it_is) {
      copy.resize(n);
      copy_wide(m, sign, transposed, copy.data());
    }
    const double* data = as_it_is ? m.data : copy.data();
    Execution execution;
    execution.threads = n < kThreadedEntries ? 1 : 0;
    const Survey found = survey({data, n}, thread_count(execution));
    if (found.valid)
      out = solve(execution, DenseDoubles{data, rows, cols}, UnmatchedCosts::of_smaller_side(rows, cols),
                  found);
    else
      out.solver = "invalid";
    return out;
  });
  if (answer.solver == "invalid") require_valid({false});
  if (!answer.feasible) infeasible();
  const std::vector<Index>& col_of = transposed ? answer.matching.col_to_row : answer.matching.row_to_col;
  return pairs_of(m.rows, std::min(m.rows, m.cols), [&](Index i) { return col_of[at(i)]; });
}

nb::object linear_sum_assignment(nb::handle cost_matrix, bool maximize) {
  nb::object matrix = nb::borrow(cost_matrix);
  StridedMatrix m;
  if (!read_double_matrix(matrix, m)) {
    matrix = as_double_matrix(cost_matrix);
    if (!matrix.is_valid()) {
      PyObject* read = PyObject_CallFunctionObjArgs(as_matrix, cost_matrix.ptr(), nullptr);
      if (read == nullptr) nb::raise_python_error();
      matrix = nb::steal(read);
    }
    if (!read_double_matrix(matrix, m)) throw nb::type_error("expected a matrix of float64");
  }
  if (m.rows == 0 || m.cols == 0) return pairs_of(0, 0, [](Index) { return Index{-1}; });
  const double sign = maximize ? -1 : 1;
  return is_small(m) ? assign_small(m, sign) : assign_large(m, sign);
}

/// Called through Python's own protocol, not nanobind: nanobind's functions have no signature for `inspect`,
/// cannot be pickled, report a wrong keyword in many lines, and take longer than the solution of two rows.
PyObject* call_linear_sum_assignment(PyObject*, PyObject* const* values, Py_ssize_t positional,
                                     PyObject* keywords) noexcept {
  try {
    const auto [cost_matrix, maximize] =
        two_arguments("linear_sum_assignment", {"cost_matrix", "maximize"}, values, positional, keywords);
    // SciPy also takes 1 and np.True_.
    const int largest = maximize == nullptr ? 0 : PyObject_IsTrue(maximize);
    if (largest < 0) return nullptr;
    return linear_sum_assignment(cost_matrix, largest != 0).release().ptr();
  } catch (...) {
    raise_in_python();
    return nullptr;
  }
}

constexpr const char* kLinearSumAssignment = R"(linear_sum_assignment(cost_matrix, maximize=False)
--

Solve the linear sum assignment problem exactly.

Drop-in for :func:`scipy.optimize.linear_sum_assignment`.

Parameters
----------
cost_matrix : array_like, shape (rows, cols)
    Cost of each pair; ``inf`` (``-inf`` with `maximize`) forbids it. Read as float64.
maximize : bool, default False
    Find the largest sum instead of the smallest one.

Returns
-------
row_ind, col_ind : ndarray of intp, shape (min(rows, cols),)
    The pairs, by rising row.

Raises
------
ValueError
    The array is not two-dimensional, holds NaN or ``-inf`` (``inf`` with `maximize`), or no
    assignment of the smaller side exists.

Notes
-----
The sum is the least one of the float64 numbers as they are, not only up to rounding: answers are
checked, and put right where need be, in integers that do not round. Of several optima any may come
out. O(n^3) in the worst case.)";

/// The answer as NumPy arrays, under the names of motes.matching.
nb::dict to_dict(DoubleAnswer&& answer) {
  nb::dict out;
  out["feasible"] = answer.feasible;
  out["row_to_col"] = to_numpy(std::move(answer.matching.row_to_col));
  out["col_to_row"] = to_numpy(std::move(answer.matching.col_to_row));
  out["v"] = to_numpy(std::move(answer.matching.v));
  out["solver"] = answer.solver;
  out["proof"] = answer.kind == ProofKind::grid ? "grid" : "doubles";
  out["cycles_turned"] = answer.proof.turned;
  out["wide"] = answer.proof.wide;
  return out;
}

UnmatchedCosts unmatched_of(const Array1<double>& row, const Array1<double>& col) {
  return {{row.data(), row.data() + row.size()}, {col.data(), col.data() + col.size()}};
}

nb::dict assign_dense(const Array2<double>& costs, const Array1<double>& row, const Array1<double>& col,
                      int threads) {
  DoubleAnswer answer;
  const UnmatchedCosts unmatched = unmatched_of(row, col);
  bool valid = true;
  long_or_short(costs.size(), [&] {
    Execution execution;
    execution.threads = threads;
    const Survey found = survey({costs.data(), costs.size()}, thread_count(execution));
    valid = found.valid;
    if (valid)
      answer =
          solve(execution, DenseDoubles{costs.data(), as_index(costs.shape(0)), as_index(costs.shape(1))},
                unmatched, found);
  });
  require_valid({valid});
  return to_dict(std::move(answer));
}

nb::dict assign_sparse(Index rows, Index cols, const Array1<std::int64_t>& offsets,
                       const Array1<std::int32_t>& col_index, const Array1<double>& cost,
                       const Array1<double>& row, const Array1<double>& col, int threads) {
  DoubleAnswer answer;
  const UnmatchedCosts unmatched = unmatched_of(row, col);
  bool valid = true;
  long_or_short(cost.size(), [&] {
    Execution execution;
    execution.threads = threads;
    const Survey found = survey(as_span(cost), thread_count(execution));
    valid = found.valid;
    if (valid)
      answer =
          solve(execution, SparseDoubles{{rows, cols, as_span(offsets), as_span(col_index)}, as_span(cost)},
                unmatched, found);
  });
  require_valid({valid});
  return to_dict(std::move(answer));
}

/// The row of each column if `of_cols`, else the column of each row; -1: unmatched. SciPy's offsets have 32
/// or 64 bits.
template <class OffsetType>
nb::object maximum_matching(Index rows, Index cols, const Array1<OffsetType>& offsets,
                            const Array1<std::int32_t>& col_index, bool of_cols) {
  if (col_index.size() <= kSmallEdges) {
    static thread_local SmallCardinality small;
    if (small.solve(rows, cols, as_span(offsets), as_span(col_index)))
      return to_small_array(of_cols ? small.col_to_row : small.row_to_col);
  }
  matching::CardinalityAnswer answer;
  long_or_short(col_index.size(), [&] {
    std::vector<Offset> wide;
    std::span<const Offset> row_offsets;
    if constexpr (sizeof(OffsetType) == sizeof(Offset)) {
      row_offsets = as_span(offsets);
    } else {
      wide.assign(offsets.data(), offsets.data() + offsets.size());
      row_offsets = wide;
    }
    const matching::CardinalityProblem problem{{rows, cols, row_offsets, as_span(col_index)}, {}, {}};
    Execution execution;
    execution.threads = col_index.size() < kThreadedEdges ? 1 : 0;
    const matching::AutoChoice choice = matching::choose_cardinality_solver(
        problem.graph, Backend::cpu, matching::Gpu::none, thread_count(execution));
    const matching::InitialiserInfo* init = matching::find_initialiser(choice.init);
    std::vector<Index> start;
    if (init != nullptr && choice.init != "none") start = init->run(execution, problem, 0);
    answer = choice.info->make_cardinality()->solve(execution, problem, start);
  });
  return to_numpy(std::move(of_cols ? answer.matching.col_to_row : answer.matching.row_to_col));
}

}  // namespace

void bind_matching(nb::module_& m) {
  load_numpy();
  m.def("_set_matrix_reader", [](nb::object reader) { as_matrix = reader.release().ptr(); });
  static PyMethodDef drop_in{
      "linear_sum_assignment",
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_linear_sum_assignment)),
      METH_FASTCALL | METH_KEYWORDS, kLinearSumAssignment};
  m.attr("linear_sum_assignment") =
      nb::steal(PyCFunction_NewEx(&drop_in, nullptr, nb::str("motes.matching").ptr()));
  m.def("_assign_dense", &assign_dense);
  m.def("_assign_sparse", &assign_sparse);
  m.def("_maximum_matching", &maximum_matching<std::int32_t>);
  m.def("_maximum_matching", &maximum_matching<std::int64_t>);
}

}  // namespace motes::python
