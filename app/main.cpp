/// The `motes` executable; everything else is in app/cli.h, where tests can reach it.

#include <iostream>

#include <unistd.h>

#include "app/cli.h"
#include "app/interrupt.h"

int main(int argc, char** argv) {
  motes::app::install_signal_handlers();
  motes::app::Hooks hooks;
  hooks.terminal = isatty(STDERR_FILENO) == 1;
  return motes::app::run(argc, argv, std::cout, std::cerr, hooks);
}
