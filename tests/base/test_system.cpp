/// What base/system hides of the operating system: files, descriptors, signals, processes, libraries.

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <motes/base/system/descriptor.h>
#include <motes/base/system/files.h>
#include <motes/base/system/memory.h>
#include <motes/base/system/program.h>
#include <motes/base/system/shared_library.h>
#include <motes/base/system/signals.h>
#include <motes/base/system/terminal.h>
#include <motes/base/system/threads.h>

using namespace motes;
using namespace std::chrono_literals;

namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// A folder that is removed at the end.
struct TemporaryFolder {
  TemporaryFolder()
      : path(std::filesystem::temp_directory_path() / ("motes-test-system-" + system::random_digits())) {
    std::filesystem::create_directories(path);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path;
};

/// The exit status of a child process that calls body(), as a shell would tell it.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(99);
  }
  return system::wait_for_program(child);
}

}  // namespace

TEST_CASE("lines of a pipe are read whole, or not at all") {
  int error = -1;
  system::Pipe pipe = system::make_pipe(error);
  REQUIRE(error == 0);
  SECTION("a line in two parts") {
    REQUIRE(system::write_all(pipe.write_end, bytes_of("12")) == 0);
    REQUIRE(system::write_all(pipe.write_end, bytes_of("3\n45")) == 0);
    CHECK(system::read_line(pipe.read_end, 10s) == "123");
  }
  SECTION("the writer ends before the line does") {
    REQUIRE(system::write_all(pipe.write_end, bytes_of("123")) == 0);
    pipe.write_end.close();
    CHECK(system::read_line(pipe.read_end, 10s).empty());
  }
  SECTION("the time ends before the line does") {
    REQUIRE(system::write_all(pipe.write_end, bytes_of("123")) == 0);
    CHECK(system::read_line(pipe.read_end, 1ms).empty());
  }
}

TEST_CASE("writing to a pipe that nothing reads is an error, not a signal") {
  const int status = status_of_child([] {
    system::ignore_write_signals();
    int error = 0;
    system::Pipe pipe = system::make_pipe(error);
    pipe.read_end.close();
    _exit(system::write_all(pipe.write_end, bytes_of("lost")) == EPIPE ? 0 : 1);
  });
  CHECK(status == 0);
}

TEST_CASE("the end of a file in memory is read, or all where it is short") {
  int error = -1;
  const system::Descriptor file = system::make_memory_file(error);
  REQUIRE(error == 0);
  CHECK(system::read_tail(file, 4).empty());
  REQUIRE(system::write_all(file, bytes_of("0123456789")) == 0);
  CHECK(system::read_tail(file, 4) == "6789");
  CHECK(system::read_tail(file, 40) == "0123456789");
}

TEST_CASE("a file is read at any offset up to its end") {
  const TemporaryFolder folder;
  const auto path = folder.path / "file";
  std::ofstream(path) << "0123456789";
  int error = -1;
  const system::ReadableFile file(path, error);
  REQUIRE(error == 0);
  CHECK(file.size() == 10);
  std::string text(4, '.');
  CHECK(file.read_at(3, std::as_writable_bytes(std::span(text)), error) == 4);
  CHECK(text == "3456");
  CHECK(file.read_at(8, std::as_writable_bytes(std::span(text)), error) == 2);
  CHECK(error == 0);
  CHECK(text == "8956");
}

TEST_CASE("only regular files that exist are opened for reading, and a pipe does not block") {
  const TemporaryFolder folder;
  int error = 0;
  system::ReadableFile(folder.path / "missing", error);
  CHECK(error == ENOENT);
  system::ReadableFile(folder.path, error);
  CHECK(error == system::ReadableFile::kNotRegular);
  REQUIRE(mkfifo((folder.path / "pipe").c_str(), 0600) == 0);
  system::ReadableFile(folder.path / "pipe", error);
  CHECK(error == system::ReadableFile::kNotRegular);
}

TEST_CASE("a growing file is written at any offset, and its errors are reported") {
  const TemporaryFolder folder;
  int error = -1;
  system::GrowingFile file(folder.path / "file", error);
  REQUIRE(error == 0);
  CHECK(file.write_at(4, "4567") == 0);
  CHECK(file.write_at(0, "0123") == 0);
  CHECK(file.close() == 0);
  CHECK(file.write_at(0, "x") == EBADF);
  std::string text;
  std::getline(std::ifstream(folder.path / "file"), text);
  CHECK(text == "01234567");
}

TEST_CASE("a library is loaded with its functions, or there is a reason why not") {
  std::string why_not;
  const system::SharedLibrary none("libmotes-that-does-not-exist.so", system::Symbols::local, why_not);
  CHECK_FALSE(none.loaded());
  CHECK_FALSE(why_not.empty());
  CHECK(none.find("cos") == nullptr);
  const system::SharedLibrary math("libm.so.6", system::Symbols::local, why_not);
  REQUIRE(math.loaded());
  const auto cosine = reinterpret_cast<double (*)(double)>(math.find("cos"));
  REQUIRE(cosine != nullptr);
  CHECK(cosine(0) == 1);
  CHECK(math.find("motes_no_such_function") == nullptr);
}

TEST_CASE("variables of the environment are set and removed") {
  constexpr const char* kName = "MOTES_TEST_SYSTEM";
  system::set_environment(kName, "one");
  system::set_environment(kName, "two");
  REQUIRE(std::getenv(kName) != nullptr);
  CHECK(std::string(std::getenv(kName)) == "two");
  system::set_environment(kName, nullptr);
  CHECK(std::getenv(kName) == nullptr);
}

TEST_CASE("each signal that asks a process to end is answered once, after its flag is set") {
  const int status = status_of_child([] {
    static std::atomic<bool> requested{false};
    static std::atomic<int> answers{0};
    std::signal(SIGHUP, SIG_DFL);  // nohup ignores it for all it starts
    if (!system::answer_end_signals(requested, [] { answers += requested ? 1 : 100; })) _exit(1);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
      const int before = answers;
      std::raise(signal);
      for (int k = 0; answers == before && k < 5000; ++k) std::this_thread::sleep_for(1ms);
    }
    if (answers != 3) _exit(2);
    system::ignore_end_signals();
    std::raise(SIGTERM);
    std::this_thread::sleep_for(5ms);
    _exit(answers == 3 ? 0 : 3);
  });
  CHECK(status == 0);
}

TEST_CASE("a watched child passes on its exit code, or the signal that ended it") {
  const auto watched = [](auto&& work) {
    return status_of_child([&] {
      system::continue_in_watched_child([](const system::EndingSignal& signal) {
        _exit(50 + (signal.by_request ? 1 : 0) + (signal.killed ? 2 : 0) + (signal.name.empty() ? 4 : 0));
      });
      work();
    });
  };
  CHECK(watched([] { _exit(7); }) == 7);
  CHECK(watched([] { std::raise(SIGKILL); }) == 52);
  CHECK(watched([] {
          std::signal(SIGTERM, SIG_DFL);
          std::raise(SIGTERM);
        }) == 51);
  CHECK(status_of_child([] {
          system::continue_in_watched_child([](const system::EndingSignal&) {});
          std::raise(SIGKILL);
        }) == 4);
}

TEST_CASE("messages reach standard error without its stream") {
  int error = 0;
  system::Pipe pipe = system::make_pipe(error);
  const int status = status_of_child([&] {
    dup2(pipe.write_end.number(), STDERR_FILENO);
    system::write_error("one line\n");
    _exit(0);
  });
  REQUIRE(status == 0);
  CHECK(system::read_line(pipe.read_end, 10s) == "one line");
}

TEST_CASE("a machine has processors") { CHECK(system::online_processors() >= 1); }

#ifndef __SANITIZE_ADDRESS__  // whose own allocator keeps what is freed
TEST_CASE("freed memory goes back to the system") {
  // Blocks too small for a mapping of their own; the last one keeps the heap from shrinking at its end.
  std::vector<std::vector<char>> blocks(2000);
  for (auto& block : blocks) block.assign(50'000, 'x');
  blocks.erase(blocks.begin(), blocks.end() - 1);
  const std::int64_t before = system::resident_memory();
  system::return_free_memory();
  CHECK(before - system::resident_memory() > 50'000'000);
}
#endif
