// SciPy's matching functions, and the exact solver behind them with unmatched costs and duals.

#include <cmath>
#include <cstring>

#include <motes/base/execution.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/registry.h>

#include "python/src/double_assignment.h"
#include "python/src/python.h"
#include "python/src/small_cardinality.h"

namespace motes::python {
namespace {

/// Up to so many entries solve_small is faster than what large problems take.
constexpr std::size_t kSmallEntries = 512 * 512;
/// From so many entries on Python's lock is released.
constexpr std::size_t kUnlockedEntries = 64 * 64;
/// From so many entries on more than one thread pays.
constexpr std::size_t kThreadedEntries = 512 * 512;
/// The same for edges of a cardinality problem.
constexpr std::size_t kThreadedEdges = 1 << 22;
/// Up to so many edges SmallCardinality is done while a solver is being chosen.
constexpr std::size_t kSmallEdges = 1 << 12;

/// A buffer of Python's, released at the end.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// False, with Python's error set, where the object gives none of that kind.
  bool take(PyObject* object, int flags) {
    release();
    valid_ = PyObject_GetBuffer(object, &view_, flags) == 0;
    return valid_;
  }
  const Py_buffer& view() const { return view_; }

 private:
  void release() {
    if (valid_) PyBuffer_Release(&view_);
    valid_ = false;
  }
  Py_buffer view_{};
  bool valid_ = false;
};

/// What the functions take from Python once, when the module is loaded; never freed.
struct Names {
  PyObject *ndarray, *empty, *as_matrix, *intp, *int32;
};
Names names;

/// [n], not set.
PyObject* empty_array(Py_ssize_t n, PyObject* type) {
  PyObject* size = PyLong_FromSsize_t(n);
  PyObject* arguments[] = {size, type};
  PyObject* array = PyObject_Vectorcall(names.empty, arguments, 2, nullptr);
  Py_DECREF(size);
  if (array == nullptr) nb::raise_python_error();
  return array;
}

/// A copy, made faster than to_numpy hands small arrays over.
nb::object to_small_array(const std::vector<Index>& values) {
  nb::object array = nb::steal(empty_array(static_cast<Py_ssize_t>(values.size()), names.int32));
  Buffer to;
  if (!to.take(array.ptr(), PyBUF_WRITABLE)) nb::raise_python_error();
  if (!values.empty()) std::memcpy(to.view().buf, values.data(), values.size() * sizeof(Index));
  return array;
}

/// Matched pairs by rising row, as SciPy gives them. `col_of` [rows], -1: free.
template <class ColOf>
nb::object pairs_of(Index rows, Index pairs, const ColOf& col_of) {
  nb::object row = nb::steal(empty_array(pairs, names.intp)), col = nb::steal(empty_array(pairs, names.intp));
  {
    Buffer to_row, to_col;
    if (!to_row.take(row.ptr(), PyBUF_WRITABLE) || !to_col.take(col.ptr(), PyBUF_WRITABLE))
      nb::raise_python_error();
    auto* r = static_cast<Py_ssize_t*>(to_row.view().buf);
    auto* c = static_cast<Py_ssize_t*>(to_col.view().buf);
    for (Index i = 0; i < rows; ++i)
      if (const Index j = col_of(i); j >= 0) *r++ = i, *c++ = j;
  }
  PyObject* both = PyTuple_New(2);
  PyTuple_SetItem(both, 0, row.release().ptr());
  PyTuple_SetItem(both, 1, col.release().ptr());
  return nb::steal(both);
}

/// Steps in entries, so that a transposed or sliced matrix need not be copied by Python first.
struct StridedMatrix {
  const double* data;
  Index rows, cols;
  std::ptrdiff_t row_step, col_step;
};

/// Row after row, times sign; transposed where that makes rows <= cols.
void copy_wide(const StridedMatrix& m, double sign, bool transposed, double* to) {
  const Index rows = transposed ? m.cols : m.rows, cols = transposed ? m.rows : m.cols;
  const std::ptrdiff_t down = transposed ? m.col_step : m.row_step,
                       along = transposed ? m.row_step : m.col_step;
  for (Index i = 0; i < rows; ++i) {
    const double* from = m.data + i * down;
    for (Index j = 0; j < cols; ++j) *to++ = sign * from[j * along];
  }
}

[[noreturn]] void infeasible() { throw nb::value_error("cost matrix is infeasible"); }
void require_valid(const Survey& found) {
  if (!found.valid) throw nb::value_error("matrix contains invalid numeric entries");
}

/// What can be read where it lies: row after row, not to be turned around.
bool lies_ready(const StridedMatrix& m, double sign) {
  return sign > 0 && m.col_step == 1 && m.row_step == m.cols;
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
  // A matrix stored column by column is read as its transposed one.
  const bool transposed = m.col_step != 1 && m.row_step == 1;
  const Index rows = transposed ? m.cols : m.rows, cols = transposed ? m.rows : m.cols;
  const std::size_t n = at(rows) * at(cols);
  const std::ptrdiff_t step = transposed ? m.col_step : m.row_step;
  const bool as_it_is = sign > 0 && (transposed || m.col_step == 1) && step == cols;
  DoubleAnswer answer;
  {
    const nb::gil_scoped_release unlocked;
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
      answer = solve(execution, DenseDoubles{data, rows, cols}, UnmatchedCosts::of_smaller_side(rows, cols),
                     found);
    else
      answer.solver = "invalid";
  }
  if (answer.solver == "invalid") require_valid({false});
  if (!answer.feasible) infeasible();
  const std::vector<Index>& col_of = transposed ? answer.matching.col_to_row : answer.matching.row_to_col;
  return pairs_of(m.rows, std::min(m.rows, m.cols), [&](Index i) { return col_of[at(i)]; });
}

Index as_index(Py_ssize_t n) {
  if (n > std::numeric_limits<Index>::max() - 1)
    throw nb::value_error("the matrix has more than 2^31 - 2 rows or columns");
  return static_cast<Index>(n);
}

bool is_double_matrix(const Py_buffer& view) {
  return view.ndim == 2 && view.format != nullptr && std::strcmp(view.format, "d") == 0 &&
         view.strides[0] % 8 == 0 && view.strides[1] % 8 == 0;
}

nb::object linear_sum_assignment(nb::handle cost_matrix, nb::handle maximize_given) {
  const int maximize = PyObject_IsTrue(maximize_given.ptr());  // 1 and np.True_ are what SciPy takes, too
  if (maximize < 0) nb::raise_python_error();
  constexpr int kFlags = PyBUF_STRIDED_RO | PyBUF_FORMAT;
  nb::object matrix = nb::borrow(cost_matrix);
  Buffer buffer;
  if (reinterpret_cast<PyObject*>(Py_TYPE(matrix.ptr())) != names.ndarray ||
      !buffer.take(matrix.ptr(), kFlags) || !is_double_matrix(buffer.view())) {
    PyErr_Clear();
    PyObject* read = PyObject_CallFunctionObjArgs(names.as_matrix, cost_matrix.ptr(), nullptr);
    if (read == nullptr) nb::raise_python_error();
    matrix = nb::steal(read);
    if (!buffer.take(matrix.ptr(), kFlags)) nb::raise_python_error();
  }
  const Py_buffer& view = buffer.view();
  const StridedMatrix m{static_cast<const double*>(view.buf), as_index(view.shape[0]),
                        as_index(view.shape[1]), view.strides[0] / 8, view.strides[1] / 8};
  if (m.rows == 0 || m.cols == 0) return pairs_of(0, 0, [](Index) { return Index{-1}; });
  const double sign = maximize != 0 ? -1 : 1;
  return at(m.rows) * at(m.cols) <= kSmallEntries ? assign_small(m, sign) : assign_large(m, sign);
}

/// Arrays as NumPy has them, under the names that motes.matching gives them.
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
  {
    const nb::gil_scoped_release unlocked;
    Execution execution;
    execution.threads = threads;
    const Survey found = survey({costs.data(), costs.size()}, thread_count(execution));
    valid = found.valid;
    if (valid)
      answer = solve(execution,
                     DenseDoubles{costs.data(), as_index(static_cast<Py_ssize_t>(costs.shape(0))),
                                  as_index(static_cast<Py_ssize_t>(costs.shape(1)))},
                     unmatched, found);
  }
  require_valid({valid});
  return to_dict(std::move(answer));
}

nb::dict assign_sparse(Index rows, Index cols, const Array1<std::int64_t>& offsets,
                       const Array1<std::int32_t>& col_index, const Array1<double>& cost,
                       const Array1<double>& row, const Array1<double>& col, int threads) {
  DoubleAnswer answer;
  const UnmatchedCosts unmatched = unmatched_of(row, col);
  bool valid = true;
  {
    const nb::gil_scoped_release unlocked;
    Execution execution;
    execution.threads = threads;
    const Survey found = survey(as_span(cost), thread_count(execution));
    valid = found.valid;
    if (valid)
      answer =
          solve(execution, SparseDoubles{{rows, cols, as_span(offsets), as_span(col_index)}, as_span(cost)},
                unmatched, found);
  }
  require_valid({valid});
  return to_dict(std::move(answer));
}

/// The row of each column (`of_cols`) or the column of each row. SciPy has offsets of 32 or 64 bits.
template <class OffsetType>
nb::object maximum_matching(Index rows, Index cols, const Array1<OffsetType>& offsets,
                            const Array1<std::int32_t>& col_index, bool of_cols) {
  if (col_index.size() <= kSmallEdges) {
    static thread_local SmallCardinality small;
    if (small.solve(rows, cols, as_span(offsets), as_span(col_index)))
      return to_small_array(of_cols ? small.col_to_row : small.row_to_col);
  }
  matching::CardinalityAnswer answer;
  {
    const nb::gil_scoped_release unlocked;
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
    const matching::AutoChoice choice =
        matching::choose_cardinality_solver(problem.graph, Backend::cpu, false, thread_count(execution));
    const matching::InitialiserInfo* init = matching::find_initialiser(choice.init);
    std::vector<Index> start;
    if (init != nullptr && choice.init != "none") start = init->run(execution, problem, 0);
    answer = choice.info->make_cardinality()->solve(execution, problem, start);
  }
  return to_numpy(std::move(of_cols ? answer.matching.col_to_row : answer.matching.row_to_col));
}

}  // namespace

void bind_matching(nb::module_& m) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  names.ndarray = numpy.attr("ndarray").inc_ref().ptr();
  names.empty = numpy.attr("empty").inc_ref().ptr();
  names.intp = numpy.attr("dtype")(numpy.attr("intp")).inc_ref().ptr();
  names.int32 = numpy.attr("dtype")(numpy.attr("int32")).inc_ref().ptr();
  m.def("_set_matrix_reader", [](nb::object reader) { names.as_matrix = reader.release().ptr(); });
  m.def("linear_sum_assignment", &linear_sum_assignment, nb::arg("cost_matrix").none(),
        nb::arg("maximize").none() = false,
        nb::sig("def linear_sum_assignment(cost_matrix: numpy.typing.ArrayLike, maximize: bool = False) -> "
                "tuple[numpy.typing.NDArray[numpy.intp], numpy.typing.NDArray[numpy.intp]]"),
        R"(Solve the linear sum assignment problem exactly.

Drop-in for :func:`scipy.optimize.linear_sum_assignment`.

Parameters
----------
cost_matrix : array_like, shape (rows, cols)
    Cost of each pair; ``inf`` (``-inf`` with `maximize`) forbids it. Read as float64.
maximize : bool, default False
    Find the largest sum in place of the smallest one.

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
out. O(n^3) in the worst case.)");
  m.def("_assign_dense", &assign_dense);
  m.def("_assign_sparse", &assign_sparse);
  m.def("_maximum_matching", &maximum_matching<std::int32_t>);
  m.def("_maximum_matching", &maximum_matching<std::int64_t>);
}

}  // namespace motes::python
