#pragma once
/// Files appear whole or not at all: write beside, fsync, rename.

#include <filesystem>
#include <functional>
#include <string_view>

namespace motes::io {

/// Calls `write` with a temporary path in the target's folder (same extension), then fsyncs and renames it.
/// The temporary is removed when anything throws. Creates the parent folder. Throws ResourceError (path and
/// the system's reason) when the folder cannot be written or the disk is full.
void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write);

/// The same for a text held in memory.
void write_text(const std::filesystem::path& target, std::string_view text);

}  // namespace motes::io
