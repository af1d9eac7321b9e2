// One run per folder; names and links that lead elsewhere; output that reaches a terminal.
#include <filesystem>
#include <optional>

#include <catch2/catch.hpp>

#include <motes/base/system/files.h>
#include <motes/io/bdv_writer.h>

#include "app/console.h"
#include "app/interrupt.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

std::string small_table(const fs::path& dir) {
  const fs::path table = dir / "points.csv";
  write_file(table, "frame,x_um,y_um,z_um\n0,1,1,1\n0,5,5,5\n1,1.1,1,1\n1,5,5.1,5\n2,1.2,1,1\n2,5,5.2,5\n");
  return table.string();
}

std::vector<std::string> track(const std::string& input, const fs::path& out) {
  return {"track", input, "-o", out.string(), "--set", "linking.gate_um=1", "--quiet"};
}

}  // namespace

TEST_CASE("Only one run at a time writes to a folder") {
  const TempDir dir;
  const std::string input = small_table(dir.path());
  fs::create_directories(dir / "out");
  {
    const system::FolderLock other(dir / "out");
    const Outcome refused = run_motes(track(input, dir / "out"));
    CHECK(refused.code == 4);
    CHECK(is_one_error_line(refused.err));
    CHECK_THAT(refused.err, Contains("another run"));
    CHECK(fs::is_empty(dir / "out"));
  }
  CHECK(run_motes(track(input, dir / "out")).code == 0);
}

TEST_CASE("Unfinished files of killed runs are removed, and no others") {
  const TempDir dir;
  const std::string input = small_table(dir.path());
  const fs::path out = dir / "out";
  fs::create_directories(out / "frames");
  const std::vector<std::string> stale{".tracks.tmp-0123456789abcdef.h5",
                                       "frames/.frame_000000.vtp.tmp-0123456789abcdef"};
  const std::vector<std::string> kept{".other.tmp-0123456789abcdef.h5", ".tracks.tmp-123-0.h5",
                                      "tracks.tmp-0123456789abcdef.h5", "notes.txt"};
  for (const std::string& name : stale) write_file(out / name, "x");
  for (const std::string& name : kept) write_file(out / name, "x");
  REQUIRE(run_motes(track(input, out)).code == 0);
  for (const std::string& name : stale) CHECK_FALSE(fs::exists(out / name));
  for (const std::string& name : kept) CHECK(fs::exists(out / name));
}

TEST_CASE("frames/ and the checkpoint are not written through links") {
  const TempDir dir;
  const std::string input = small_table(dir.path());
  fs::create_directories(dir / "out");
  fs::create_directories(dir / "elsewhere");
  fs::create_directory_symlink(dir / "elsewhere", dir / "out" / "frames");
  const Outcome refused = run_motes(track(input, dir / "out"));
  CHECK(refused.code == 4);
  CHECK(is_one_error_line(refused.err));
  CHECK_THAT(refused.err, Contains("link"));
  CHECK(fs::is_empty(dir / "elsewhere"));

  const auto volumes = simulate_small(dir.path(), true);
  write_file(dir / "precious", "keep me");
  fs::create_directories(dir / "out2");
  fs::create_symlink(dir / "precious", dir / "out2" / "checkpoint.log");
  CHECK(run_motes(
            {"track", (volumes / "frames/frames.ome.tif").string(), "-o", (dir / "out2").string(), "--quiet"})
            .code == 4);
  CHECK(file_bytes(dir / "precious") == "keep me");
}

TEST_CASE("A changed input of the same name, size and time is not resumed") {
  const TempDir dir;
  const auto volumes = simulate_small(dir.path(), true);
  const fs::path input = volumes / "frames/frames.ome.tif";
  const std::vector<std::string> command{"track", input.string(), "-o", (dir / "out").string(), "--quiet"};
  app::Hooks hooks;
  hooks.after_frame = [](std::int32_t done) {
    if (done == 2) app::request_interrupt();
  };
  REQUIRE(run_motes(command, hooks).code == 130);
  const auto time = fs::last_write_time(input);
  std::string bytes = file_bytes(input);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  bytes[20000] = static_cast<char>(bytes[20000] ^ 1);
  write_file(input, bytes);
  fs::last_write_time(input, time);
  auto resumed = command;
  resumed.push_back("--resume");
  const Outcome refused = run_motes(resumed);
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Contains("another input"));
}

TEST_CASE("A BigDataViewer XML may name data outside its folder only if that is allowed") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), true, {"imaging.format=bdv-h5"});
  fs::path xml;
  for (const auto& entry : fs::recursive_directory_iterator(simulated))
    if (entry.path().extension() == ".xml") xml = entry.path();
  REQUIRE(!xml.empty());
  std::string text = file_bytes(xml);
  const std::size_t at = text.find("<hdf5");
  const std::size_t name = text.find('>', at) + 1, end = text.find("</hdf5>");
  REQUIRE(end != std::string::npos);
  const fs::path images = xml.parent_path() / text.substr(name, end - name);
  fs::create_directories(dir / "moved");
  const auto refusal = [&](const std::string& path) {
    write_file(dir / "moved" / "a.xml", text.substr(0, name) + path + text.substr(end));
    return run_motes({"info", (dir / "moved" / "a.xml").string()});
  };
  std::string absolute = text;
  const std::string relative = fs::relative(images, dir / "moved").string();
  CHECK_THAT(refusal(relative).err, Contains("--allow-outside"));
  CHECK(run_motes({"info", (dir / "moved" / "a.xml").string(), "--allow-outside"}).code == 0);
  CHECK(run_motes({"info", (dir / "moved" / "a.xml").string()}).code == 3);
  CHECK(run_motes({"info", xml.string()}).code == 0);
}

TEST_CASE("input.trusted changes no result") {
  const TempDir dir;
  const auto simulated = simulate_small(dir.path(), false);
  const std::string truth = (simulated / "truth.h5").string();
  for (const char* trusted : {"false", "true"})
    REQUIRE(run_motes({"track", truth, "-o", (dir / trusted).string(), "--quiet", "--set",
                       std::string("input.trusted=") + trusted})
                .code == 0);
  CHECK(file_bytes(dir / "true" / "tracks.h5") == file_bytes(dir / "false" / "tracks.h5"));
  CHECK(file_bytes(dir / "true" / "tracks.csv") == file_bytes(dir / "false" / "tracks.csv"));
}

TEST_CASE("Control characters of files never reach a terminal") {
  CHECK(app::printable("a\x1b[31mb\nc\td") == "a?[31mb\nc\td");
  CHECK(app::printable("\x7f\xc2\x9b"
                       "1m \xc2\xb5m \xe2\x82\xac") == "??1m \xc2\xb5m \xe2\x82\xac");
  CHECK(app::one_line("a\xc2\x9b"
                      "b\x1b"
                      "c\n") == "a b c");
  const TempDir dir;
  const std::string name = "bad\x1b]0;title\x07.csv";
  write_file(dir / name, "frame,x_um,y_um,z_um,\x1b[2J\n0,1,1,1,2\n1,1,1,1,2\n");
  const Outcome outcome = run_motes({"info", (dir / name).string()});
  CHECK(outcome.out.find('\x1b') == std::string::npos);
  CHECK(outcome.err.find('\x1b') == std::string::npos);
  const Outcome json = run_motes({"info", (dir / name).string(), "--json", "-"});
  CHECK(json.out.find('\x1b') == std::string::npos);
}
