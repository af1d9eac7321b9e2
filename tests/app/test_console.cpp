#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>

#include "app/console.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::app;
using Catch::Matchers::Contains;

namespace {

std::string progress_output(bool terminal, bool quiet) {
  std::ostringstream out, err;
  Console console(out, err, terminal);
  console.set_quiet(quiet);
  ProgressBar progress(console, "detecting", "frames", 3);
  for (int k = 0; k < 3; ++k) progress.advance();
  progress.finish();
  CHECK(out.str().empty());
  return err.str();
}

}  // namespace

TEST_CASE("Progress ends with one line that says how many and how fast") {
  CHECK_THAT(progress_output(false, false), Contains("detecting: 3 frames in ") && Contains("/s)\n"));
  CHECK(progress_output(false, false).find('\r') == std::string::npos);
  CHECK(progress_output(true, true).empty());
  CHECK(progress_output(false, true).empty());
}

TEST_CASE("An unfinished bar ends with a line end, so that the error is on its own line") {
  std::ostringstream out, err;
  Console console(out, err, true);
  {
    ProgressBar progress(console, "detecting", "frames", std::int64_t{1} << 40);
    while (err.str().empty()) progress.advance();
  }
  CHECK_THAT(err.str(), Contains("\rdetecting [") && Contains("left"));
  CHECK(err.str().back() == '\n');
}

TEST_CASE("Durations read as people write them") {
  CHECK(duration_text(0.0123) == "12 ms");
  CHECK(duration_text(12.34) == "12.3 s");
  CHECK(duration_text(250) == "4 min 10 s");
  CHECK(duration_text(7500) == "2 h 5 min");
  CHECK(rate_text(0.0123) == "0.0123");
  CHECK(rate_text(73.31) == "73.3");
  CHECK(rate_text(999.7) == "1000");
  CHECK(rate_text(18800.4) == "18800");
}

TEST_CASE("An error is one line whatever its text") {
  CHECK(one_line("a\nb\tc\r\n") == "a b c");
  CHECK(one_line("").empty());
  const std::string longest(2000, 'a'),
      beyond = "file.csv:2: " + std::string(999'999, '9') + "\xc3\xa9; do this";
  CHECK(one_line(longest) == longest);
  CHECK(one_line(beyond).size() <= 2010);
  CHECK(one_line(beyond).starts_with("file.csv:2: 99"));
  CHECK(one_line(beyond).ends_with("99\xc3\xa9; do this"));
  // The text is not cut within a character.
  CHECK(one_line(std::string(999, 'a') + "\xc3\xa9" + std::string(999, 'b') + "\xc3\xa9" +
                 std::string(999, 'c')) == std::string(999, 'a') + " ... " + std::string(999, 'c'));
}

TEST_CASE("A note is one line, whatever a cell of a table holds") {
  std::ostringstream out, err;
  Console console(out, err, false);
  console.note("column 'a\nb\x1b[31m' is left out");
  CHECK(err.str() == "column 'a b?[31m' is left out\n");
}

TEST_CASE("A result that cannot be written is a resource error, not a crash") {
  std::ostringstream out, err;
  Console console(out, err, false);
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(console.print("result"), ResourceError);
}

TEST_CASE("Warnings are kept for the report even when nothing is printed") {
  std::ostringstream out, err;
  Console console(out, err, false);
  console.set_quiet(true);
  console.warn("crowded");
  CHECK(err.str().empty());
  CHECK(console.warnings() == std::vector<std::string>{"crowded"});
}

TEST_CASE("An interrupt stops work that checks for it") {
  clear_interrupt();
  CHECK_NOTHROW(stop_if_interrupted("stopped"));
  request_interrupt();
  CHECK_THROWS_AS(stop_if_interrupted("stopped"), Interrupted);
  clear_interrupt();
}

namespace {

/// The exit status of a child process that does `work` with the handlers installed; 1 if `work` returns.
int end_of(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    clear_interrupt();  // earlier commands of this process have heard signals
    install_signal_handlers();
    work();
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wait_long() { sleep(30); }

}  // namespace

TEST_CASE("A signal ends commands that do not check for it at once, without half-written files") {
  const motes::testing::TempDir dir;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto interrupted = [&] {
      io::write_atomically(dir / "t.csv", [&](const std::filesystem::path& temporary) {
        std::ofstream(temporary) << "half";
        raise(signal);
        wait_long();
      });
    };
    CHECK(end_of(interrupted) == 130);
    CHECK(std::filesystem::is_empty(dir.path()));
  }
}

TEST_CASE("nohup is respected") {
  const auto survives = [] { raise(SIGHUP); };
  const auto before = std::signal(SIGHUP, SIG_IGN);
  CHECK(end_of(survives) == 1);
  std::signal(SIGHUP, before);
}

TEST_CASE("The first signal only notifies commands that check for it, the second ends them") {
  const auto told = [] {
    hear_interrupts();
    raise(SIGINT);
    usleep(100000);
    if (interrupt_requested()) _exit(7);
  };
  CHECK(end_of(told) == 7);
  const auto twice = [] {
    hear_interrupts();
    raise(SIGINT);
    raise(SIGINT);
    wait_long();
  };
  CHECK(end_of(twice) == 130);
}
