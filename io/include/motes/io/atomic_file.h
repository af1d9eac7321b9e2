#pragma once
/// Output files that appear whole or not at all: written beside their target, synced, then renamed.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io {

namespace detail {
class Temporary;
}

/// A file that is written beside its target under a temporary name. commit() gives it the target's name;
/// without commit() the destructor removes it. What a killed process on this machine left of the same target
/// is removed. If the target is a symbolic link, the file that it points to is replaced. If the target is a
/// device or a pipe (/dev/stdout), the file is written in the system's temporary folder, and commit() copies
/// it to the target.
class AtomicFile {
 public:
  /// Creates the parent folder if necessary. Throws ResourceError (path and the system's reason) if that
  /// fails, the folder is not writable, or the target is a folder.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  /// The path to write to, with the target's extension. It has been created as an empty file, under an
  /// unpredictable name and without following links.
  const std::filesystem::path& path() const;

  /// Syncs the file and renames it to the target. Call it once, after closing the file. Throws ResourceError.
  void commit();

 private:
  std::filesystem::path target_, place_;  // place_: target_, or the file that it links to
  std::unique_ptr<detail::Temporary> temporary_;
  bool stream_ = false;
};

/// Calls `write` with the path of a temporary file (see AtomicFile) and commits it. If anything throws, the
/// temporary file is removed. Throws ResourceError (path and the system's reason) if the folder is not
/// writable or the disk is full.
void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write);

/// The same for a text held in memory.
void write_text(const std::filesystem::path& target, std::string_view text);

/// Removes temporary files and folders that killed processes left in the folder: those of outputs with these
/// stems ("tracks" for tracks.h5 and tracks.csv), or all if no stems are given. No other process may be
/// writing such outputs there (see system::FolderLock).
void remove_stale_temporaries(const std::filesystem::path& folder,
                              const std::vector<std::string>& stems = {});

}  // namespace motes::io
