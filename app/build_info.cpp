/// Compiler, libraries and options of this build.

#include "app/build_info.h"

#include <omp.h>

#include <motes/version.h>

namespace motes::app {

std::string_view version() { return MOTES_VERSION; }

std::string_view compiler() { return MOTES_COMPILER; }

std::string cuda_state() {
  const std::string reason = MOTES_CUDA_MISSING;
  return reason.empty() ? "yes" : "no: " + reason;
}

std::string openmp_state() {
  return "OpenMP (" + std::to_string(_OPENMP) + "), " + std::to_string(omp_get_num_procs()) + " processors";
}

}  // namespace motes::app
