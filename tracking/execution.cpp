#include "tracking/execution.h"

#include <omp.h>

namespace motes {

int thread_count(const Execution& execution) {
  return execution.threads > 0 ? execution.threads : omp_get_num_procs();
}

}  // namespace motes
