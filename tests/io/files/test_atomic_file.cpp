/// How an output is written depends on what exists under its name.
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>

#include "io/files/atomic_folder.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// Runs `work` in a child process that is killed when `work` calls its argument.
pid_t killed_at(const std::function<void(const std::function<void()>&)>& work, bool wait = true) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    work([&] {
      if (write(ready[1], "x", 1) != 1) _exit(1);
      pause();
    });
    _exit(1);
  }
  char sent = 0;
  REQUIRE(read(ready[0], &sent, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  if (!wait) return child;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

}  // namespace

TEST_CASE("the temporary file of a killed process is removed when the output is next written") {
  const TempDir dir;
  const auto write_and_stop = [](const fs::path& target) {
    return [=](const std::function<void()>& stop) {
      io::write_atomically(target, [&](const fs::path& temporary) {
        std::ofstream(temporary) << "half";
        stop();
      });
    };
  };
  fs::create_directory(dir / "a");
  fs::create_directory(dir / "b");
  killed_at(write_and_stop(dir / "a" / "t.csv"));
  killed_at(write_and_stop(dir / "a" / "other.csv"));
  REQUIRE(entries(dir / "a") == 2);
  const pid_t runs = killed_at(write_and_stop(dir / "b" / "t.csv"), false);
  io::write_text(dir / "a" / "t.csv", "whole");
  io::write_text(dir / "b" / "t.csv", "whole");
  CHECK(entries(dir / "a") == 2);  // the temporary file of the other output stays
  CHECK(entries(dir / "b") == 2);  // that process is still writing
  kill(runs, SIGKILL);
  waitpid(runs, nullptr, 0);
}

TEST_CASE("a folder is replaced as a whole, and the temporary of a killed process is removed") {
  const TempDir dir;
  const fs::path target = dir / "t.geff";
  const auto write = [&](const std::string& text, const std::function<void()>& stop) {
    io::detail::write_folder_atomically(
        target, [](const fs::path& folder) { return fs::exists(folder / "mine"); },
        [&](const fs::path& folder) {
          std::ofstream(folder / "mine") << text;
          stop();
        });
  };
  fs::create_directory(target);
  std::ofstream(target / "mine") << "old";
  killed_at([&](const std::function<void()>& stop) { write("half", stop); });
  CHECK(slurp(target / "mine") == "old");
  CHECK(entries(dir.path()) == 2);
  CHECK_THROWS_AS(write("half", [] { throw ResourceError("on the way"); }), ResourceError);
  CHECK(slurp(target / "mine") == "old");
  CHECK(entries(dir.path()) == 1);
  write("new", [] {});
  CHECK(slurp(target / "mine") == "new");
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("an output that is a link stays one, and its target is replaced") {
  const TempDir dir;
  fs::create_directory(dir / "elsewhere");
  std::ofstream(dir / "elsewhere" / "there.csv") << "old";
  fs::create_symlink("elsewhere/there.csv", dir / "link.csv");
  io::write_text(dir / "link.csv", "new");
  CHECK(fs::is_symlink(dir / "link.csv"));
  CHECK(slurp(dir / "elsewhere" / "there.csv") == "new");
  CHECK(entries(dir / "elsewhere") == 1);
  CHECK_THROWS_AS(io::write_atomically(dir / "link.csv",
                                       [](const fs::path& temporary) {
                                         std::ofstream(temporary) << "half";
                                         throw ResourceError("on the way");
                                       }),
                  ResourceError);
  CHECK(slurp(dir / "link.csv") == "new");
  CHECK(entries(dir / "elsewhere") == 1);
}

TEST_CASE("a link to nothing, or to itself, becomes a file") {
  const TempDir dir;
  fs::create_symlink("nowhere.csv", dir / "dead.csv");
  fs::create_symlink("round.csv", dir / "round.csv");
  for (const char* name : {"dead.csv", "round.csv"}) {
    io::write_text(dir / name, "new");
    CHECK(slurp(dir / name) == "new");
  }
}

TEST_CASE("a pipe is written into, not replaced") {
  const TempDir dir;
  const fs::path pipe = dir / "pipe.json";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string sent(200000, 'x');  // more than a pipe can buffer
  std::string got;
  std::thread reader([&] { got = slurp(pipe); });
  io::write_text(pipe, sent);
  reader.join();
  CHECK(got == sent);
  CHECK(fs::is_fifo(pipe));
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("a folder as an output file is an error before the work") {
  const TempDir dir;
  fs::create_directory(dir / "folder.csv");
  bool began = false;
  CHECK_THROWS_AS(io::write_atomically(dir / "folder.csv", [&](const fs::path&) { began = true; }),
                  ResourceError);
  CHECK(!began);
  CHECK(entries(dir.path()) == 1);
}
