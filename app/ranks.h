#pragma once
/// Commands that run on several ranks, started by mpirun or srun (motes/base/communicator.h).

#include <functional>
#include <string_view>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>

#include "app/config.h"

namespace motes::app {

/// Calls body(ranks) if this process is one of several ranks, else body(nullptr). An error of a single rank
/// ends all ranks.
void on_ranks(const std::function<void(Communicator*)>& body);

/// Calls body() on every rank (or here, if `ranks` is null). If it throws on one, all ranks throw.
void everywhere(Communicator* ranks, const std::function<void()>& body);

/// Calls body() on rank 0 (or here, if `ranks` is null), while the other ranks sleep. If it throws, all
/// ranks throw.
void on_first_rank(Communicator* ranks, const std::function<void()>& body);

/// The configured execution. If execution.threads is not set, the ranks of a machine share its processors.
Execution share_of_threads(const Config& config);

/// Returns work(), run in a child process that this process watches. If a signal ends the child, this
/// process prints one line and exits with code 4, after which the launcher ends the other ranks. Call it
/// before there are threads.
int run_watched(const std::function<int()>& work);

}  // namespace motes::app
