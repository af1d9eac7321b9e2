#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <unistd.h>

#include <motes/base/errors.h>

#include "io/jail/jail.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::detail::Jail;
using io::detail::Serve;

namespace {

#if defined(__has_feature)  // for clang; gcc has macros
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MOTES_TEST_SANITIZED
#endif
#endif
#if defined(MOTES_TEST_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr std::uint64_t kMemory = std::uint64_t{256} << 20;

/// Misbehaves as the first word of the request demands.
std::string misbehave(std::string_view request, std::span<std::byte> shared) {
  if (request == "crash") std::raise(SIGSEGV);
  if (request == "abort") std::abort();
  if (request == "input") throw InputError("file: bad");
  if (request == "disk") throw ResourceError("disk: full");
  if (request == "fill") std::memset(shared.data(), 7, shared.size());
  if (request == "open")
    return std::ifstream("/etc/hostname") || std::ifstream("/proc/self/stat") ? "yes" : "no";
  if (request == "eat") {
    std::vector<std::string> eaten;
    for (;;) eaten.emplace_back(std::size_t{16} << 20, 'x');
  }
  return "echo " + std::string(request);
}

Jail misbehaving() {
  return Jail("file", kMemory, []() -> Serve { return misbehave; });
}

}  // namespace

TEST_CASE("a jail answers, shares memory and rethrows exceptions") {
  Jail jail("file", kMemory, []() -> Serve { return misbehave; });
  CHECK(jail.ask("a") == "echo a");
  CHECK(jail.ask("") == "echo ");
  CHECK(jail.ask(std::string(3 << 20, 'x')).size() == (3 << 20) + 5);
  jail.ask("fill", 5 << 20);
  REQUIRE(jail.shared().size() == 5 << 20);
  CHECK(jail.shared().front() == std::byte{7});
  CHECK(jail.shared().back() == std::byte{7});
  jail.release_shared();
  jail.ask("fill", 100);
  CHECK(jail.shared().back() == std::byte{7});
  CHECK(error_of<InputError>([&] { jail.ask("input"); }) == "file: bad");
  CHECK(error_of<ResourceError>([&] { jail.ask("disk"); }) == "disk: full");
  CHECK(jail.ask("still there") == "echo still there");
}

TEST_CASE("the death of a jail is one line with the file's name") {
  for (const char* way : {"crash", "abort"}) {
    Jail jail = misbehaving();
    CHECK_THAT(error_of<InputError>([&] { jail.ask(way); }), Contains("file: ") && Contains("crashed"));
    CHECK_THROWS_AS(jail.ask("again"), InputError);
  }
  CHECK_THROWS_AS(Jail("file", kMemory, []() -> Serve { throw InputError("no"); }), InputError);
  CHECK_THROWS_AS(Jail("file", kMemory, []() -> Serve { _exit(0); }), InputError);
}

TEST_CASE("a jail cannot open files") {
  if (kSanitized) MOTES_SKIP("the sanitizer opens files of its own");
  Jail jail = misbehaving();
  CHECK(jail.ask("open") == "no");
}

TEST_CASE("a jail's memory is limited") {
  if (kSanitized) MOTES_SKIP("the sanitizer's shadow memory passes any limit");
  Jail jail = misbehaving();
  CHECK_THAT(error_of<InputError>([&] { jail.ask("eat"); }), Contains("memory"));
  CHECK(jail.ask("a") == "echo a");
}

TEST_CASE("a jail starts beside busy threads") {
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) std::vector<char>(1 << 16, 'x');
  });
  for (int i = 0; i < 50; ++i) {
    Jail jail = misbehaving();
    CHECK(jail.ask("a") == "echo a");
  }
  done = true;
  other.join();
}
