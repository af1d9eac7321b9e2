#pragma once
/// The `motes` command line as a function, so that tests run it in their own process.

#include <cstdint>
#include <functional>
#include <iosfwd>

namespace motes::app {

/// Settings of the caller, and hooks for tests.
struct Hooks {
  std::function<void(std::int32_t frames_done)> after_frame;  ///< after each detected frame
  bool terminal = false;                                      ///< standard error is a terminal
  double before_s = 0;                                        ///< seconds since the process began
};

/// Runs one command. Never throws: errors become one line on `err` and the exit code
/// (motes/base/errors.h; 4 for unexpected errors).
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err, const Hooks& hooks = {});

}  // namespace motes::app
