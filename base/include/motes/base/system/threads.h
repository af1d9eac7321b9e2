#pragma once
/// Threads that the system may refuse.

namespace motes::system {

/// How many of `wanted` threads this process can have at once, the calling one included: they are started,
/// and end again. At least 1. OpenMP's library ends the process where it is refused one, so ask first. About
/// 20 microseconds a thread.
int startable_threads(int wanted);

/// How many threads a limit of this process's memory (ulimit -v, -d) has room for, 1 GiB of addresses each, at
/// least 1: stacks and the allocator's arenas that are asked for later may be refused too. No limit: INT_MAX.
int threads_within_memory_limit();

/// From now on thread_count (execution.h) gives at most this many: the system refuses more.
void limit_threads(int most);

}  // namespace motes::system
