#pragma once
/// The temporary files that this process is writing, so that it can remove them if it is interrupted. All
/// functions may be called from any thread, but not from a signal handler.

#include <filesystem>
#include <mutex>

namespace motes::io {

void note_unfinished(const std::filesystem::path& file);
void forget_unfinished(const std::filesystem::path& file);

/// Removes all files on the list. Returns a lock that keeps others from being added; hold it until the
/// process ends.
[[nodiscard]] std::unique_lock<std::mutex> remove_unfinished_files();

}  // namespace motes::io
