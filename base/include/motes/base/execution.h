#pragma once
/// The execution resource, the first argument of every step.

#include <motes/base/workspace.h>

namespace motes {

enum class Backend { automatic, cpu, cuda };

/// Where a step runs, and on how many threads. It affects the speed of a step, never its result.
struct Execution {
  int threads = 0;                 ///< CPU threads; 0: as many as the machine has processors
  Backend backend = Backend::cpu;  ///< functions that do not choose one themselves treat automatic as cpu
  int device = 0;                  ///< index of the CUDA device
  Workspace* workspace = nullptr;  ///< memory kept between calls (see workspace.h); may be null
};

/// The number of CPU threads that `execution` means, at least 1.
int thread_count(const Execution& execution);

}  // namespace motes
