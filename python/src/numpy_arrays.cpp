#include "python/src/numpy_arrays.h"

#include <limits>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

namespace motes::python {
namespace {

nb::object new_array_of(int type, std::size_t n, void*& data) {
  npy_intp size = static_cast<npy_intp>(n);
  nb::object array = nb::steal(PyArray_SimpleNew(1, &size, type));
  if (!array.is_valid()) nb::raise_python_error();
  data = PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr()));
  return array;
}

template <class T>
nb::object new_array_at(int type, std::size_t n, T*& data) {
  void* memory = nullptr;
  nb::object array = new_array_of(type, n, memory);
  data = static_cast<T*>(memory);
  return array;
}

}  // namespace

Index as_index(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<Index>::max()) - 1)
    throw nb::value_error("the matrix has more than 2^31 - 2 rows or columns");
  return static_cast<Index>(n);
}

void load_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) nb::raise_python_error();
}

bool read_double_matrix(nb::handle object, StridedMatrix& out) {
  if (!PyArray_CheckExact(object.ptr())) return false;
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (PyArray_NDIM(array) != 2 || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISBEHAVED_RO(array))
    return false;
  constexpr npy_intp kSize = sizeof(double);
  if (PyArray_STRIDE(array, 0) % kSize != 0 || PyArray_STRIDE(array, 1) % kSize != 0) return false;
  out = {static_cast<const double*>(PyArray_DATA(array)),
         as_index(static_cast<std::size_t>(PyArray_DIM(array, 0))),
         as_index(static_cast<std::size_t>(PyArray_DIM(array, 1))), PyArray_STRIDE(array, 0) / kSize,
         PyArray_STRIDE(array, 1) / kSize};
  return true;
}

nb::object as_double_matrix(nb::handle object) {
  if (!PyArray_CheckExact(object.ptr())) return {};
  auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
  if (PyArray_NDIM(array) != 2 || !PyArray_CanCastSafely(PyArray_TYPE(array), NPY_DOUBLE)) return {};
  PyObject* cast = PyArray_FromArray(array, PyArray_DescrFromType(NPY_DOUBLE), NPY_ARRAY_BEHAVED);
  if (cast == nullptr) nb::raise_python_error();
  return nb::steal(cast);
}

nb::object new_array(std::size_t n, std::ptrdiff_t*& data) { return new_array_at(NPY_INTP, n, data); }
nb::object new_array(std::size_t n, std::int32_t*& data) { return new_array_at(NPY_INT32, n, data); }

}  // namespace motes::python
