#include "app/interrupt.h"

#include <atomic>
#include <csignal>

#include "tracking/types/errors.h"

namespace motes::app {
namespace {

std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

extern "C" void on_signal(int signal) {
  requested.store(true);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

void request_interrupt() { requested.store(true); }
void clear_interrupt() { requested.store(false); }
bool interrupt_requested() { return requested.load(); }

void stop_if_interrupted(const std::string& message) {
  if (interrupt_requested()) throw Interrupted(message);
}

}  // namespace motes::app
