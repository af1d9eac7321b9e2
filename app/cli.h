#pragma once
/// The `motes` command line as a function, so that tests run it in their own process.

#include <cstdint>
#include <functional>
#include <iosfwd>

namespace motes::app {

/// What the command line is told by its caller, and where tests look in.
struct Hooks {
  std::function<void(std::int32_t frames_done)> after_frame;  ///< after each detected frame
  bool terminal = false;                                      ///< standard error is a terminal
  double before_s = 0;                                        ///< seconds since the process began
};

/// Runs one command. Never throws: errors become one line on `err` and the exit code
/// (tracking/types/errors.h; anything unforeseen is 4).
int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err, const Hooks& hooks = {});

}  // namespace motes::app
