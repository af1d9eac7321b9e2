// Arrays in files: zeros at first, written values stay, and few pages are resident.

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/scratch.h>
#include <motes/base/system/mapped_file.h>
#include <motes/base/system/memory.h>

#include "tests/support/skip.h"

using namespace motes;

TEST_CASE("arrays in files keep what is written, with few pages resident") {
  const testing::TempDir folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  constexpr std::size_t kWords = std::size_t{25} << 20;  // 200 MB
  const auto scratch = std::make_shared<Scratch>(folder.path(), 200'000'000);
  const std::int64_t before = system::resident_memory();
  std::int64_t most = 0;
  {
    ScratchArray<std::uint64_t> arrays[3];
    for (auto& array : arrays) {
      array = ScratchArray<std::uint64_t>(scratch, kWords);
      REQUIRE(array.size() == kWords);
      bool zeros = true;
      for (std::size_t i = 0; i < kWords; ++i) {
        zeros = zeros && array[i] == 0;
        array[i] = 3 * i + 1;
        if (i % (1 << 20) == 0) most = std::max(most, system::resident_memory() - before);
      }
      CHECK(zeros);
    }
    for (const auto& array : arrays) {
      bool kept = true;
      for (std::size_t i = 0; i < kWords; ++i) kept = kept && array[i] == 3 * i + 1;
      CHECK(kept);
    }
    const ScratchArray<std::uint64_t> moved = std::move(arrays[0]);
    CHECK(arrays[0].data() == nullptr);
    CHECK(moved[7] == 22);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
  INFO(most << " bytes were resident");
  CHECK(most < 500'000'000);
}

TEST_CASE("arrays without a folder are in memory") {
  ScratchArray<float> array(nullptr, 3);
  std::fill(array.begin(), array.end(), 2.0F);
  CHECK(array.scratch() == nullptr);
  CHECK(array[2] == 2.0F);
  CHECK(ScratchArray<float>().size() == 0);
}

TEST_CASE("a folder for arrays is on a disk that has room, and takes files") {
  if (std::filesystem::is_directory("/dev/shm") && system::is_memory("/dev/shm"))
    CHECK_THROWS_AS(Scratch("/dev/shm", 1'000'000'000), UsageError);
  CHECK_THROWS_AS(Scratch("/no/such/folder", 1'000'000'000), ResourceError);
  const testing::TempDir folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  const auto scratch = std::make_shared<Scratch>(folder.path(), 200'000'000);
  CHECK_THROWS_AS(ScratchArray<char>(scratch, std::size_t{1} << 50), ResourceError);
  CHECK_THROWS_AS(scratch->require_room(0x1p60, "a frame"), ResourceError);
  scratch->require_room(1, "a frame");
  CHECK(std::filesystem::is_empty(folder.path()));
}
