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
  return motes::app::run(argc, argv, std::cout, std::cerr, hooks);
}
