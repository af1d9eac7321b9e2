#pragma once
/// The execution resource of a step: always its first argument, and never a source of different results.

#include <motes/base/workspace.h>

namespace motes {

enum class Backend { automatic, cpu, cuda };

/// Where and how wide a step runs. It changes the speed of a step, never its result.
struct Execution {
  int threads = 0;                 ///< CPU threads; 0 = all the machine has
  Backend backend = Backend::cpu;  ///< automatic: left to the caller that chooses; solvers take it as cpu
  int device = 0;                  ///< which CUDA device
  Workspace* workspace = nullptr;  ///< memory kept from call to call (see workspace.h); may be absent
};

/// The number of CPU threads `execution` stands for (at least 1).
int thread_count(const Execution& execution);

}  // namespace motes
