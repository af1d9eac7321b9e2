#include <algorithm>

#include <omp.h>

#include <motes/base/execution.h>

namespace motes {

int thread_count(const Execution& execution) {
  return std::max(1, execution.threads > 0 ? execution.threads : omp_get_num_procs());
}

}  // namespace motes
