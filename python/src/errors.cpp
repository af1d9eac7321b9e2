// The library's errors as Python exceptions.

#include <stdexcept>

#include <motes/base/errors.h>

#include "python/src/python.h"

namespace motes::python {
namespace {

nb::handle usage_error, input_error, resource_error;

nb::handle make_error(nb::module_& m, const char* name, PyObject* base, const char* doc) {
  const std::string full = std::string("motes.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (type == nullptr) nb::raise_python_error();
  m.attr(name) = nb::steal(type);
  return m.attr(name);
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& e) {
    PyErr_SetString(usage_error.ptr(), e.what());
  } catch (const InputError& e) {
    PyErr_SetString(input_error.ptr(), e.what());
  } catch (const ResourceError& e) {
    PyErr_SetString(resource_error.ptr(), e.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

}  // namespace

void check_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_errors(nb::module_& m) {
  usage_error = make_error(m, "UsageError", PyExc_ValueError, "A setting or an argument makes no sense.");
  input_error = make_error(m, "InputError", PyExc_ValueError, "Input data cannot be read or makes no sense.");
  resource_error = make_error(m, "ResourceError", PyExc_OSError, "Memory, disk or device is lacking.");
  nb::register_exception_translator(translate);
}

}  // namespace motes::python
