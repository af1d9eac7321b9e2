#include "app/interrupt.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>

#include <semaphore.h>
#include <unistd.h>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>
#include <motes/base/system/terminal.h>
#include <motes/io/unfinished_files.h>

namespace motes::app {
namespace {

std::atomic<bool> requested{false}, heard{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");
sem_t signals;  // counts those not answered yet

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
  const bool speaks = launched().rank == 0;  // for all ranks, which are signalled together
  for (bool first = true;;) {
    if (sem_wait(&signals) != 0) continue;
    if (first && heard.load()) {
      first = false;
      if (speaks && system::error_is_terminal())
        say("\nmotes: ending after the work at hand; Ctrl-C again ends at once\n");
      continue;
    }
    const auto no_new_files = io::remove_unfinished_files();
    if (speaks) say("motes: error: interrupted\n");
    _exit(static_cast<int>(ExitCode::interrupted));
  }
}

/// Where an exception cannot be passed on (out of a library's destructor, out of memory for itself). Takes no
/// memory.
[[noreturn]] void end_in_one_line() {
  const char* what = "an unexpected error; please report this";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    what = "not enough memory; use a smaller input, or crop or split the series";
  } catch (const std::system_error&) {
    what = "the system refuses a thread; raise its limits, or use --threads 1";
  } catch (...) {
  }
  const auto no_new_files = io::remove_unfinished_files();
  say("motes: error: ");
  say(what);
  say("\n");
  _exit(static_cast<int>(ExitCode::resources));
}

}  // namespace

void install_signal_handlers() {
  std::set_terminate(end_in_one_line);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sem_init(&signals, 0, 0);
  try {
    std::thread(answer_signals).detach();
  } catch (const std::system_error&) {
    return;  // no thread is to be had: signals end the process as usual
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

void ignore_interrupts() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

void hear_interrupts() { heard.store(true); }

void request_interrupt() { requested.store(true); }
void clear_interrupt() {
  requested.store(false);
  heard.store(false);
}
bool interrupt_requested() { return requested.load(); }
const std::atomic<bool>& interrupt_flag() { return requested; }

void stop_if_interrupted(const std::string& message) {
  if (interrupt_requested()) throw Interrupted(message);
}

}  // namespace motes::app
