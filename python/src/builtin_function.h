#pragma once
/// Arguments and exceptions of functions that Python calls without nanobind.

#include <array>

#include "python/src/python.h"

namespace motes::python {

/// The values of a function's two arguments, by position or keyword, as METH_FASTCALL | METH_KEYWORDS passes
/// them: `values` [positional + keywords]. The second argument is optional: null if omitted. Throws TypeError
/// with the messages of Python's own functions.
std::array<PyObject*, 2> two_arguments(const char* function, const std::array<const char*, 2>& names,
                                       PyObject* const* values, Py_ssize_t positional, PyObject* keywords);

/// Turns the exception being handled into a Python exception. Call it in a catch (...) block.
void raise_in_python() noexcept;

}  // namespace motes::python
