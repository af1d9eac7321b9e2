#pragma once
/// A bound on the memory of all large arrays of a program, in any containers. An executable with operator new
/// and delete that call these functions (app/new_delete.cpp) stores arrays beyond the bound in files
/// (scratch.h):
///
///     keep_large_blocks_in_files("/scratch", 4'000'000'000);
///     std::vector<double> positions(300'000'000);  // memory-mapped

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace motes {

/// A block of at least this many bytes is large.
inline constexpr std::size_t kLargeBlock = std::size_t{1} << 17;

/// From now on, large blocks are in memory while together they take less than a quarter of `memory_bytes`
/// (the largest ones only while little is taken). Others are files in `folder`; their pages are released when
/// the resident memory exceeds half of `memory_bytes`. The first file may throw the errors of Scratch.
/// Existing blocks are not moved. Once there are files, folder and bound cannot be changed.
void keep_large_blocks_in_files(const std::filesystem::path& folder, std::int64_t memory_bytes);

/// Allows half of the memory instead of a quarter, for work after the arrays that stay to the end:
/// short-lived arrays are filled faster in memory.
void keep_more_blocks_in_memory() noexcept;

/// All further blocks are in memory. For a forked child, since the pages of files are only its parent's.
void keep_blocks_of_child_in_memory() noexcept;

/// As operator new. Throws std::bad_alloc, and ResourceError if the folder has no space.
void* take_block(std::size_t bytes);

/// As operator delete, for blocks of take_block or malloc.
void give_block(void* block) noexcept;

}  // namespace motes
