/// The `motes` executable; everything else is in app/cli.h, where tests can reach it.

#include <iostream>

#include <unistd.h>

#include "app/cli.h"
#include "app/interrupt.h"
#include "app/stages.h"

int main(int argc, char** argv) {
  motes::app::install_signal_handlers();
  motes::app::Hooks hooks;
  hooks.terminal = isatty(STDERR_FILENO) == 1;
  hooks.before_s = motes::app::seconds_since_process_start();
  const int code = motes::app::run(argc, argv, std::cout, std::cerr, hooks);
  if (code == 0) return 0;
  // Destructors of libraries take memory, of which there may be none.
  std::cout.flush();
  std::cerr.flush();
  _exit(code);
}
