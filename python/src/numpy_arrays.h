#pragma once
/// NumPy arrays through NumPy's own C interface: Python's buffer protocol takes as long for one array as
/// solving a matrix of five rows.

#include <cstddef>
#include <cstdint>

#include <motes/base/index.h>

#include "python/src/python.h"

namespace motes::python {

/// A matrix with steps counted in entries, so that Python need not copy a transposed or sliced matrix first.
struct StridedMatrix {
  const double* data = nullptr;
  Index rows = 0, cols = 0;
  std::ptrdiff_t row_step = 0, col_step = 0;
};

/// A number of rows or columns. Throws ValueError beyond 2^31 - 2.
Index as_index(std::size_t n);

/// Call once, when the module is loaded. Throws ImportError if NumPy is missing or too old.
void load_numpy();

/// Fills `out` if the object is an ndarray, not a subclass, with two axes and doubles in the machine's byte
/// order and alignment; else returns false. The array owns the memory and must outlive `out`. Throws as
/// as_index does.
bool read_double_matrix(nb::handle object, StridedMatrix& out);

/// The object as such an array: a copy if it is an ndarray with two axes that NumPy casts to doubles safely
/// (integers, narrower floats, another byte order); else an invalid object.
nb::object as_double_matrix(nb::handle object);

/// A new array [n] and its uninitialised memory. NumPy's intp is std::ptrdiff_t.
nb::object new_array(std::size_t n, std::ptrdiff_t*& data);
nb::object new_array(std::size_t n, std::int32_t*& data);

}  // namespace motes::python
