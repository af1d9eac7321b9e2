#pragma once
/// Output folders that appear whole or not at all, like files (atomic_file.h).

#include <filesystem>
#include <functional>

namespace motes::io::detail {

/// Calls `write` with a new folder beside `target`, then renames it to the target. An existing folder is
/// replaced if `may_replace` returns true for it. The new folder is removed after an exception. Throws
/// UsageError if the target is something else, ResourceError if the disk fails.
void write_folder_atomically(const std::filesystem::path& target,
                             const std::function<bool(const std::filesystem::path& existing)>& may_replace,
                             const std::function<void(const std::filesystem::path& folder)>& write);

}  // namespace motes::io::detail
