// Large blocks beyond a bound lie in files, keep what is written, and are a forked child's in memory.

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/base/large_blocks.h>
#include <motes/base/system/mapped_file.h>
#include <motes/base/system/worker.h>

#include "tests/support/skip.h"

using namespace motes;

namespace {

/// Whether the block is a file of the folder.
bool in_files(const void* block, const std::filesystem::path& folder) {
  std::ifstream maps("/proc/self/maps");
  const auto at = reinterpret_cast<std::uintptr_t>(block);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream range(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    range >> std::hex >> begin >> dash >> end;
    if (begin <= at && at < end) return line.find(folder.string()) != std::string::npos;
  }
  return false;
}

}  // namespace

TEST_CASE("large blocks beyond a bound are files, and keep what is written") {
  const testing::TempDir folder;
  if (system::is_memory(folder.path())) MOTES_SKIP("the folder for temporary files is memory");
  constexpr std::size_t kBytes = 24 * kLargeBlock, kWords = kBytes / sizeof(std::uint64_t);
  keep_large_blocks_in_files(folder.path(), 496 * kLargeBlock);  // two blocks in memory
  std::uint64_t* blocks[8];
  for (std::uint64_t k = 0; k < 8; ++k) {
    blocks[k] = static_cast<std::uint64_t*>(take_block(kBytes));
    CHECK(in_files(blocks[k], folder.path()) == (k >= 2));
    for (std::uint64_t i = 0; i < kWords; ++i) blocks[k][i] = 8 * i + k;
  }
  void* const small = take_block(kLargeBlock / 2);
  CHECK(!in_files(small, folder.path()));
  for (std::uint64_t k = 0; k < 8; ++k) {
    bool kept = true;
    for (std::uint64_t i = 0; i < kWords; ++i) kept = kept && blocks[k][i] == 8 * i + k;
    REQUIRE(kept);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK_THROWS_AS(take_block(std::size_t{1} << 50), ResourceError);

  void* aligned = std::aligned_alloc(4096, 4096);  // blocks of malloc may begin with a page as well
  give_block(aligned);
  for (std::uint64_t* block : {blocks[0], blocks[1], blocks[5]}) give_block(block);
  CHECK(!in_files(blocks[5], folder.path()));
  void* const again = take_block(kBytes);
  CHECK(!in_files(again, folder.path()));
  void* const full = take_block(2 * kBytes);
  CHECK(in_files(full, folder.path()));
  keep_more_blocks_in_memory();
  void* const more = take_block(2 * kBytes);
  CHECK(!in_files(more, folder.path()));

  system::Worker worker({std::uint64_t{1} << 30, 10}, [&](system::Channel& channel) {
    keep_large_blocks_in_files(folder.path(), 0);  // as its parent
    keep_blocks_of_child_in_memory();
    void* const block = take_block(kBytes);
    channel.send(in_files(block, folder.path()) ? "file" : "memory");
    give_block(block);
    give_block(blocks[2]);  // the parent's
    channel.send("alive");
  });
  std::string message;
  CHECK((worker.channel().receive(message, 100) && message == "memory"));
  CHECK((worker.channel().receive(message, 100) && message == "alive"));
  worker.end();
  CHECK(blocks[2][7] == 58);

  for (const int k : {2, 3, 4, 6, 7}) give_block(blocks[k]);
  for (void* block : {again, full, more, small}) give_block(block);
}
