#pragma once
/// Commands that run on several ranks, started by mpirun or srun (motes/base/communicator.h).

#include <functional>
#include <string_view>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>

#include "app/options/config.h"

namespace motes::app {

/// Calls body(ranks) if this process is one of several ranks, else body(nullptr). An error of a single rank
/// ends all ranks.
void on_ranks(const std::function<void(Communicator*)>& body);

/// Calls body() on every rank (or here, if `ranks` is null). If it throws on one, all ranks throw.
void everywhere(Communicator* ranks, const std::function<void()>& body);

/// Calls body() on rank 0 (or here, if `ranks` is null), while the other ranks sleep. If it throws, all
/// ranks throw.
void on_first_rank(Communicator* ranks, const std::function<void()>& body);

/// The configured execution, on the first GPU of this rank's share. If execution.threads is not set, the
/// ranks of a machine share its processors.
Execution share_of_threads(const Config& config);

/// The GPUs of this rank: those of devices_of(config) are dealt to the ranks of a machine in turn. With more
/// ranks than GPUs, several ranks use the same one.
std::vector<int> share_of_devices(const Config& config);

/// The share of rank `rank` of the `ranks` on a machine, as share_of_devices gives it.
std::vector<int> devices_of_rank(const std::vector<int>& devices, int rank, int ranks);

/// Returns work(), run in a child process that this process watches. If a signal ends the child, this process
/// prints one line and exits with code 4, and the launcher then ends the other ranks. Must be called before
/// threads are started.
int run_watched(const std::function<int()>& work);

}  // namespace motes::app
