/// The `motes` executable; everything else is in app/cli.h, where tests can reach it.

#include <iostream>
#include <streambuf>
#include <string_view>

#include <unistd.h>

#include <motes/base/communicator.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/stages.h"

namespace {

/// Takes everything and keeps nothing.
class Nowhere : public std::streambuf {
  int overflow(int c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

}  // namespace

int main(int argc, char** argv) {
  motes::app::install_signal_handlers();
  motes::app::Hooks hooks;
  hooks.terminal = isatty(STDERR_FILENO) == 1;
  hooks.before_s = motes::app::seconds_since_process_start();
  // Of several ranks of one match, rank 0 alone speaks.
  Nowhere nowhere;
  std::ostream silence(&nowhere);
  const bool silent = motes::launched().rank > 0 && argc > 1 && std::string_view(argv[1]) == "match";
  const int code =
      motes::app::run(argc, argv, silent ? silence : std::cout, silent ? silence : std::cerr, hooks);
  motes::leave_world();
  if (code == 0) return 0;
  // Destructors of libraries take memory, of which there may be none.
  std::cout.flush();
  std::cerr.flush();
  _exit(code);
}
