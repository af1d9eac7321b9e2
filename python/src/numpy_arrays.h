#pragma once
/// NumPy arrays through NumPy's own C interface: Python's buffer protocol takes as long for one array as
/// solving a matrix of five rows.

#include <cstddef>
#include <cstdint>

#include <motes/base/index.h>

#include "python/src/python.h"

namespace motes::python {

/// Steps in entries, so that a transposed or sliced matrix need not be copied by Python first.
struct StridedMatrix {
  const double* data = nullptr;
  Index rows = 0, cols = 0;
  std::ptrdiff_t row_step = 0, col_step = 0;
};

/// A number of rows or columns. Throws ValueError beyond 2^31 - 2.
Index as_index(std::size_t n);

/// To be called once, when the module is loaded. Throws ImportError if NumPy is missing or too old.
void load_numpy();

/// Fills `out` where the object is an ndarray, and no other class, of two axes that holds doubles in the
/// machine's byte order and alignment; else false. The memory belongs to the array, which must outlive `out`.
/// Throws as as_index does.
bool read_double_matrix(nb::handle object, StridedMatrix& out);

/// The object as such an array, copied if it is an ndarray of two axes that NumPy casts to doubles safely (of
/// integers, narrower floats, another byte order); else an invalid object.
nb::object as_double_matrix(nb::handle object);

/// A new array [n], and its memory, not set. intp is std::ptrdiff_t.
nb::object new_array(std::size_t n, std::ptrdiff_t*& data);
nb::object new_array(std::size_t n, std::int32_t*& data);

}  // namespace motes::python
