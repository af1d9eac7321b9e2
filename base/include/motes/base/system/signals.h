#pragma once
/// Signals that ask this process to end: Ctrl-C (SIGINT), SIGTERM, and SIGHUP when its terminal is closed.

#include <atomic>
#include <functional>

namespace motes::system {

/// From now on such a signal sets `requested`; then a separate thread calls answer(), once for each signal.
/// (There, locks and allocations are allowed, unlike in a signal handler.) SIGHUP stays ignored if it is
/// already, as under nohup. If the thread cannot be started, returns false, and signals end the process as
/// usual. Call it once; `requested` must outlive the process's threads.
bool answer_end_signals(std::atomic<bool>& requested, std::function<void()> answer);

/// From now on these signals are ignored.
void ignore_end_signals();

/// From now on writing to a closed pipe, or beyond a limit on the size of files, is an ordinary write error
/// instead of a signal that ends the process (SIGPIPE, SIGXFSZ).
void ignore_write_signals();

}  // namespace motes::system
