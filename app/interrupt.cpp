#include "app/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <thread>

#include <semaphore.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/unfinished_files.h>

namespace motes::app {
namespace {

std::atomic<bool> requested{false}, heard{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");
sem_t signals;  // counts those that nobody has answered yet

extern "C" void on_signal(int) {
  const int error = errno;
  requested.store(true);
  sem_post(&signals);
  errno = error;
}

void say(std::string_view line) {
  // What cannot be said to a terminal that went away is not said.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

/// Files are removed here and not in the handler, where locks and memory are out of bounds.
[[noreturn]] void answer_signals() {
  for (bool first = true;;) {
    if (sem_wait(&signals) != 0) continue;
    if (first && heard.load()) {
      first = false;
      if (isatty(STDERR_FILENO) == 1)
        say("\nmotes: ending after the work at hand; Ctrl-C again ends at once\n");
      continue;
    }
    const auto no_new_files = io::remove_unfinished_files();
    say("motes: error: interrupted\n");
    _exit(static_cast<int>(ExitCode::interrupted));
  }
}

}  // namespace

void install_signal_handlers() {
  sem_init(&signals, 0, 0);
  std::thread(answer_signals).detach();
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
}

void hear_interrupts() { heard.store(true); }

void request_interrupt() { requested.store(true); }
void clear_interrupt() {
  requested.store(false);
  heard.store(false);
}
bool interrupt_requested() { return requested.load(); }

void stop_if_interrupted(const std::string& message) {
  if (interrupt_requested()) throw Interrupted(message);
}

}  // namespace motes::app
