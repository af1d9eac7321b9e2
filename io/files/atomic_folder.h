#pragma once
/// Output folders that appear whole or not at all, as files do (atomic_file.h).

#include <filesystem>
#include <functional>

namespace motes::io::detail {

/// Calls `write` with a new folder beside `target`, then gives it the target's name. A folder that is there
/// already is replaced where `may_replace` says that it is one of this kind. The new folder is removed when
/// anything throws. Throws UsageError where the target is something else, ResourceError where the disk fails.
void write_folder_atomically(const std::filesystem::path& target,
                             const std::function<bool(const std::filesystem::path& existing)>& may_replace,
                             const std::function<void(const std::filesystem::path& folder)>& write);

}  // namespace motes::io::detail
