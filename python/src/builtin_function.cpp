#include "python/src/builtin_function.h"

#include <new>

namespace motes::python {
namespace {

[[noreturn]] void refuse(const char* function, const std::string& why) {
  throw nb::type_error((std::string(function) + "() " + why).c_str());
}

}  // namespace

std::array<PyObject*, 2> two_arguments(const char* function, const std::array<const char*, 2>& names,
                                       PyObject* const* values, Py_ssize_t positional, PyObject* keywords) {
  constexpr Py_ssize_t kMost = 2;
  if (positional > kMost)
    refuse(function, "takes at most 2 arguments (" + std::to_string(positional) + " given)");
  std::array<PyObject*, 2> given{};
  for (Py_ssize_t i = 0; i < positional; ++i) given[static_cast<std::size_t>(i)] = values[i];
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_Size(keywords);
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* const name = PyTuple_GetItem(keywords, k);
    std::size_t i = 0;
    while (i < names.size() && PyUnicode_CompareWithASCIIString(name, names[i]) != 0) ++i;
    const auto quoted = [&] { return "'" + nb::cast<std::string>(nb::handle(name)) + "'"; };
    if (i == names.size()) refuse(function, "got an unexpected keyword argument " + quoted());
    if (given[i] != nullptr) refuse(function, "got multiple values for argument " + quoted());
    given[i] = values[positional + k];
  }
  if (given[0] == nullptr)
    refuse(function, std::string("missing 1 required positional argument: '") + names[0] + "'");
  return given;
}

void raise_in_python() noexcept {
  try {
    translate_error();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const nb::builtin_exception& e) {
    PyErr_SetString(e.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError,
                    e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

}  // namespace motes::python
