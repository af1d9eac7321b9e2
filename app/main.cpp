/// The `motes` executable; everything else is in app/cli.h, where tests can reach it.

#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string_view>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>
#include <motes/base/system/program.h>
#include <motes/base/system/terminal.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/ranks.h"
#include "app/report/stages.h"

namespace {

/// A stream buffer that discards everything.
class Nowhere : public std::streambuf {
  int overflow(int c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

/// Shortens the spin time of idle OpenMP threads. GCC's library lets them spin for milliseconds before they
/// sleep, which takes time from threads with work if the processors are shared: with three busy processes on
/// two processors, runs take two to three times as long. Microseconds are enough to bridge the gap between
/// two loops. The library reads its variables before main(); as it is part of the program
/// (MOTES_STATIC_OPENMP), a function with a priority is called before that.
[[gnu::constructor(101)]] void spin_briefly() {
  for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
    if (std::getenv(name) != nullptr) return;
  motes::system::set_environment("GOMP_SPINCOUNT", "1000");
}

/// Whether several ranks can run the command together.
bool runs_on_ranks(std::string_view command) {
  return command == "match" || command == "track" || command == "detect";
}

/// This process's rank; 0 if it is the only one, or if there is no MPI (which the command reports).
int enter_world() {
  try {
    return motes::world().rank();
  } catch (const motes::Error&) {
    return 0;
  }
}

int run(int argc, char** argv, bool on_ranks) {
  motes::app::install_signal_handlers();
  motes::app::Hooks hooks;
  hooks.terminal = motes::system::error_is_terminal();
  hooks.before_s = motes::system::seconds_since_start();
  // Only rank 0 prints. All ranks first meet in MPI: if one ended before rank 0 has printed, the launcher
  // would end rank 0 too.
  Nowhere nowhere;
  std::ostream silence(&nowhere);
  const bool silent = on_ranks && enter_world() > 0;
  const int code =
      motes::app::run(argc, argv, silent ? silence : std::cout, silent ? silence : std::cerr, hooks);
  // The launcher signals ranks that end shortly after one that failed.
  if (on_ranks) motes::app::ignore_interrupts();
  motes::leave_world();
  if (code == 0) return 0;
  // Destructors of libraries may allocate memory, and there may be none left.
  std::cout.flush();
  std::cerr.flush();
  std::_Exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  const bool on_ranks = argc > 1 && runs_on_ranks(argv[1]) && motes::launched().size > 1;
  if (!on_ranks) return run(argc, argv, false);
  return motes::app::run_watched([&] { return run(argc, argv, true); });
}
