/// Handles the signals that ask this process to end, and uncaught exceptions.

#include "app/interrupt.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>
#include <motes/base/system/signals.h>
#include <motes/base/system/terminal.h>
#include <motes/io/unfinished_files.h>

namespace motes::app {
namespace {

std::atomic<bool> requested{false}, heard{false};

/// Handles one signal. With several `ranks` all get it, and only the first one prints (`speaks`).
void answer_signal(bool speaks, bool ranks) {
  static bool first = true;
  if (first && heard.load()) {
    first = false;
    if (speaks && system::error_is_terminal())
      system::write_error("\nmotes: stopping after the current frame; press Ctrl-C again to stop at once\n");
    return;
  }
  const auto no_new_files = io::remove_unfinished_files();
  if (speaks)
    system::write_error(ranks
                            ? "motes: error: rank 0: interrupted; if another rank failed, its line says why\n"
                            : "motes: error: interrupted\n");
  std::_Exit(static_cast<int>(ExitCode::interrupted));
}

/// Ends the process after an exception that cannot be passed on (out of a destructor, or for lack of
/// memory). Allocates no memory.
[[noreturn]] void end_in_one_line() {
  const char* what = "an unexpected error; please report this";
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    what = "not enough memory; use a smaller input, or crop or split the series";
  } catch (const std::system_error&) {
    what = "the system refused to start a thread; raise its limits, or use --threads 1";
  } catch (...) {
  }
  const auto no_new_files = io::remove_unfinished_files();
  system::write_error("motes: error: ");
  system::write_error(what);
  system::write_error("\n");
  std::_Exit(static_cast<int>(ExitCode::resources));
}

}  // namespace

void install_signal_handlers() {
  std::set_terminate(end_in_one_line);
  system::ignore_write_signals();
  system::answer_end_signals(requested,
                             [place = launched()] { answer_signal(place.rank == 0, place.size > 1); });
}

void ignore_interrupts() { system::ignore_end_signals(); }

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
