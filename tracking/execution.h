#pragma once
/// The execution resource of a step: always its first argument, never a source of different results.

#include "matching/solver.h"

namespace motes {

using Execution = matching::Execution;
using Backend = matching::Backend;

/// The number of CPU threads `execution` stands for (at least 1).
int thread_count(const Execution& execution);

}  // namespace motes
