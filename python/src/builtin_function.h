#pragma once
/// For functions that Python calls without nanobind: what nanobind does for its own.

#include <array>

#include "python/src/python.h"

namespace motes::python {

/// The values of a function's two arguments by position and keyword, as METH_FASTCALL | METH_KEYWORDS hands
/// them over: `values` [positional + keywords]. The second may be left out: null. Throws TypeError with the
/// messages of Python's own functions.
std::array<PyObject*, 2> two_arguments(const char* function, const std::array<const char*, 2>& names,
                                       PyObject* const* values, Py_ssize_t positional, PyObject* keywords);

/// Turns the exception being handled into a Python exception. To be called in a catch (...).
void raise_in_python() noexcept;

}  // namespace motes::python
