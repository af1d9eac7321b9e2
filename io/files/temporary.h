#pragma once
/// Files and folders under temporary names, beside the outputs that they become.

#include <filesystem>

namespace motes::io::detail {

/// An empty file or folder beside `target`, under a name that cannot be foreseen, removed when this object
/// is destroyed. A process that is killed leaves it; the next one on this machine that writes the same target
/// removes it, unless the machine was restarted in between.
class Temporary {
 public:
  enum class Kind : bool { file, folder };

  /// Throws ResourceError (the target and the system's reason).
  Temporary(const std::filesystem::path& target, Kind kind);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// It has another name now: nothing is removed.
  void release();

 private:
  std::filesystem::path path_;
};

}  // namespace motes::io::detail
