/// What is under the name of an output decides how it is written.
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>

#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("an output that is a link stays one, and the file behind it is replaced") {
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
  const std::string sent(200000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] { got = slurp(pipe); });
  io::write_text(pipe, sent);
  reader.join();
  CHECK(got == sent);
  CHECK(fs::is_fifo(pipe));
  CHECK(entries(dir.path()) == 1);
}

TEST_CASE("a folder is not an output file, and says so before the work") {
  const TempDir dir;
  fs::create_directory(dir / "folder.csv");
  bool began = false;
  CHECK_THROWS_AS(io::write_atomically(dir / "folder.csv", [&](const fs::path&) { began = true; }),
                  ResourceError);
  CHECK(!began);
  CHECK(entries(dir.path()) == 1);
}
