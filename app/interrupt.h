#pragma once
/// Ctrl-C and SIGTERM: noted at once, obeyed at the next frame (or frame pair), so that what was finished is
/// kept. A second signal ends the process at once.

#include <string>

namespace motes::app {

/// Routes SIGINT and SIGTERM here, and ignores SIGPIPE (a closed pipe is an ordinary write error).
void install_signal_handlers();

void request_interrupt();
void clear_interrupt();
bool interrupt_requested();

/// Throws Interrupted with this message when an interrupt was requested.
void stop_if_interrupted(const std::string& message);

}  // namespace motes::app
