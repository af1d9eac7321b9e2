#pragma once
/// A bound on the memory of all large arrays of a program, whichever containers own them. An executable whose
/// operator new and delete are these (app/new_delete.cpp) keeps what exceeds the bound in files (scratch.h):
///
///     keep_large_blocks_in_files("/scratch", 4'000'000'000);
///     std::vector<double> positions(300'000'000);  // memory-mapped

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace motes {

/// A block of at least this many bytes is large.
inline constexpr std::size_t kLargeBlock = std::size_t{1} << 17;

/// From now on large blocks are in memory while they take less than a quarter of `memory_bytes` together, the
/// largest only while little is taken; others are files in `folder`, and let go of pages where all that is
/// resident exceeds half of `memory_bytes`. The first of these may throw what Scratch throws. Blocks that are
/// there stay where they are. Once there are files, folder and bound stay as they are.
void keep_large_blocks_in_files(const std::filesystem::path& folder, std::int64_t memory_bytes);

/// Half in place of a quarter, for what comes after the arrays that stay to the end: short-lived arrays are
/// filled faster in memory.
void keep_more_blocks_in_memory() noexcept;

/// All further blocks are in memory. For a forked child: the files' pages are its parent's alone.
void keep_blocks_of_child_in_memory() noexcept;

/// As operator new. Throws std::bad_alloc, and ResourceError where the folder has no room.
void* take_block(std::size_t bytes);

/// As operator delete, of a block of take_block or of malloc.
void give_block(void* block) noexcept;

}  // namespace motes
