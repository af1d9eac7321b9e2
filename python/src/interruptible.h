#pragma once
/// Long work that Ctrl-C can interrupt.

#include <atomic>
#include <chrono>
#include <future>

#include <motes/base/stop.h>

#include "app/interrupt.h"
#include "python/src/python.h"

namespace motes::python {

/// Runs `work` in another thread, without the GIL, while this one handles signals. On Ctrl-C it asks the work
/// to stop (motes::Stop, motes::app::stop_if_interrupted), waits for it, and throws KeyboardInterrupt. The
/// overhead is about 100 us.
template <class Work>
auto interruptible(const Work& work) {
  app::clear_interrupt();
  const nb::gil_scoped_release unlocked;
  std::atomic<bool> stop{false};
  auto result = std::async(std::launch::async, [&] {
    const Stop::Use use(stop);
    return work();
  });
  std::exception_ptr signal;
  while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
    if (signal) continue;
    try {
      check_signals();
    } catch (...) {
      signal = std::current_exception();
      stop.store(true);
      app::request_interrupt();
    }
  }
  if (!signal) return result.get();
  try {
    result.get();
  } catch (...) {  // it ended as requested
  }
  app::clear_interrupt();
  std::rethrow_exception(signal);
}

}  // namespace motes::python
