#pragma once
/// Interrupts: Ctrl-C, SIGTERM and SIGHUP (a closed terminal). A command that checks for them
/// (hear_interrupts) ends after the current frame or frame pair, so that finished work is kept. Every other
/// command, and with a second signal every command, ends at once, with exit code 130 and without
/// half-written files.

#include <atomic>
#include <string>

namespace motes::app {

/// Installs the handlers of these signals (SIGHUP only if it is not ignored already, as by nohup), and turns
/// a closed pipe and a file size limit into ordinary write errors. An uncaught exception prints one line and
/// ends the process with exit code 4. Starts the thread that handles signals; call it once, in the first
/// thread.
void install_signal_handlers();

/// From now on signals are ignored: the command has ended and printed its messages.
void ignore_interrupts();

/// From now on the first signal only sets interrupt_requested(), which the command checks.
void hear_interrupts();

void request_interrupt();
/// Resets the state for a new command: nothing is requested, and the first signal ends the process.
void clear_interrupt();
bool interrupt_requested();
/// The same as a flag, for work that checks one (motes::Stop).
const std::atomic<bool>& interrupt_flag();

/// Throws Interrupted with this message if an interrupt was requested.
void stop_if_interrupted(const std::string& message);

}  // namespace motes::app
