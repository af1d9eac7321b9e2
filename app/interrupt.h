#pragma once
/// Ctrl-C, SIGTERM and SIGHUP (a closed terminal). A command that looks for them (hear_interrupts) is told,
/// and ends after the frame (or frame pair) at hand, so that what was finished is kept. Every other command,
/// and with a second signal every command, ends at once, with exit code 130 and without half-written files.

#include <atomic>
#include <string>

namespace motes::app {

/// Routes SIGINT, SIGTERM and, where it is not ignored already (nohup), SIGHUP here, and ignores SIGPIPE and
/// SIGXFSZ (a closed pipe and a limit on files are ordinary write errors). An exception that cannot be passed
/// on ends in one line and exit code 4. Starts the thread that answers signals; call it once, in the
/// process's first thread.
void install_signal_handlers();

/// From now on signals are ignored: the command has ended and said what there is to say.
void ignore_interrupts();

/// From now on the first signal is only noted, for interrupt_requested() to tell.
void hear_interrupts();

void request_interrupt();
/// Forgets what was requested, and that a command looks for it: a new one begins.
void clear_interrupt();
bool interrupt_requested();
/// The same as a flag, for work that looks at one (motes::Stop).
const std::atomic<bool>& interrupt_flag();

/// Throws Interrupted with this message when an interrupt was requested.
void stop_if_interrupted(const std::string& message);

}  // namespace motes::app
