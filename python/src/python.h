#pragma once
/// Common parts of all bindings: nanobind, arrays from and to NumPy, and Ctrl-C.

#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace motes::python {

namespace nb = nanobind;

/// The message with options of the command line replaced by arguments of Python.
std::string in_python(std::string line);

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The vector's memory as a NumPy array, without a copy.
template <class T>
nb::object to_numpy(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

template <class T>
std::span<const T> as_span(const Array1<T>& array) {
  return {array.data(), array.size()};
}

/// In a catch block: sets Python's error for an exception of the library; rethrows any other.
void translate_error();

/// Throws the exception that a signal handler has raised (KeyboardInterrupt). Takes the GIL.
void check_signals();

void bind_errors(nb::module_& m);
void bind_matching(nb::module_& m);
void bind_linking(nb::module_& m);
void bind_tracking(nb::module_& m);
void bind_analysis(nb::module_& m);

}  // namespace motes::python
