#pragma once
/// Commands that several processes run together, started by mpirun or srun (motes/base/communicator.h).

#include <functional>
#include <string_view>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>

#include "app/config.h"

namespace motes::app {

/// Where this process is one of several ranks: calls body(ranks), and ends all ranks where an error is this
/// rank's alone. Else body(nullptr).
void on_ranks(const std::function<void(Communicator*)>& body);

/// body() on every rank, or on this process where `ranks` is null. What it throws on one rank, all throw.
void everywhere(Communicator* ranks, const std::function<void()>& body);

/// body() on rank 0 alone, or on this process where `ranks` is null; the other ranks sleep meanwhile. What it
/// throws, all ranks throw.
void on_first_rank(Communicator* ranks, const std::function<void()>& body);

/// Threads and back end as the configuration has them; the ranks of one machine share its cores unless
/// execution.threads says how many each takes.
Execution share_of_threads(const Config& config);

/// Runs work() in a child process and returns its exit code. Where a signal ends the child, writes one line
/// and returns 4: the launcher then ends the other ranks with that code. Call it before there are threads.
int run_watched(const std::function<int()>& work);

}  // namespace motes::app
