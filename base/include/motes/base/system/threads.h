#pragma once
/// The number of threads that this process can start.

namespace motes::system {

/// The number of threads, up to `wanted`, that this process can run at once, including the calling one; at
/// least
/// 1. Starts them as a trial, which takes about 20 microseconds each. Use it before OpenMP, whose library
/// ends the process if it cannot start a thread.
int startable_threads(int wanted);

/// The number of threads that fit into the memory limits of this process (ulimit -v, -d), at 1 GiB of address
/// space each for the stack and the allocator's arena; at least 1. INT_MAX without a limit.
int threads_within_memory_limit();

/// The number of processors of this machine that are online, including those that this process may not use.
int online_processors();

/// Limits the result of thread_count (execution.h) from now on.
void limit_threads(int most);

}  // namespace motes::system
