#pragma once
/// Files appear whole or not at all: write beside, fsync, rename.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io {

/// A file being written beside its target, which takes the target's name on commit() and is removed without
/// it. A target that is a link stays one: what it points to is replaced. What is there and is no file (a
/// device, a pipe, /dev/stdout) stays too: commit() copies the finished file, made in the system's temporary
/// folder, into it.
class AtomicFile {
 public:
  /// Creates the parent folder. Throws ResourceError (path and the system's reason) when that cannot be done,
  /// the folder cannot be written, or the target is a folder.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& target() const { return target_; }
  /// Where to write: in the target's folder (of a link: in that of the file it points to; of a stream: in the
  /// temporary one), with the target's extension. An empty file is there already, made under a name that
  /// cannot be foreseen and through no link.
  const std::filesystem::path& path() const { return temporary_; }

  /// Fsyncs and renames; call it once, with the file closed. Throws ResourceError.
  void commit();

 private:
  std::filesystem::path target_, place_;  // place_: target_, or the file that it links to
  std::filesystem::path temporary_;       // empty once it has taken its name
  bool stream_ = false;
};

/// Calls `write` with a temporary path in the target's folder (same extension), then fsyncs and renames it.
/// The temporary is removed when anything throws. Creates the parent folder. Throws ResourceError (path and
/// the system's reason) when the folder cannot be written or the disk is full.
void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write);

/// The same for a text held in memory.
void write_text(const std::filesystem::path& target, std::string_view text);

/// Removes what killed processes left unfinished in the folder, of outputs with these stems ("tracks" for
/// tracks.h5 and tracks.csv); without stems, of all. Only for a caller that alone writes such files there
/// (see system::FolderLock).
void remove_stale_temporaries(const std::filesystem::path& folder,
                              const std::vector<std::string>& stems = {});

}  // namespace motes::io
