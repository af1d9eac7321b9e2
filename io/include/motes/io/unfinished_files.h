#pragma once
/// Files that are being written under names of their own, so that a process that ends in the middle can take
/// them away. All functions may be called from any thread, but not from a signal's handler.

#include <filesystem>
#include <mutex>

namespace motes::io {

void note_unfinished(const std::filesystem::path& file);
void forget_unfinished(const std::filesystem::path& file);

/// Removes what is noted. While the lock is held nobody can note another: hold it until the process ends.
[[nodiscard]] std::unique_lock<std::mutex> remove_unfinished_files();

}  // namespace motes::io
