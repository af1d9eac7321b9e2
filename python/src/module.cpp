// The extension module motes._core.

#include <motes/version.h>

#include "python/src/python.h"

NB_MODULE(_core, m) {
  using namespace motes::python;
  m.doc() = "The compiled part of motes; use the package's own names.";
  m.attr("__version__") = MOTES_VERSION;
  bind_errors(m);
  bind_matching(m);
  bind_linking(m);
  bind_tracking(m);
  bind_analysis(m);
}
