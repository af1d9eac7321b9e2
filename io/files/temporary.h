#pragma once
/// Temporary files and folders beside the outputs that they become.

#include <filesystem>

namespace motes::io::detail {

/// An empty file or folder beside `target` with an unpredictable name, removed by the destructor. If the
/// process is killed it stays; the next process on this machine that writes the same target removes it,
/// unless the machine was restarted in between.
class Temporary {
 public:
  enum class Kind : bool { file, folder };

  /// Throws ResourceError with the target and the system's reason.
  Temporary(const std::filesystem::path& target, Kind kind);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// To call after renaming it: the destructor then removes nothing.
  void release();

 private:
  std::filesystem::path path_;
};

}  // namespace motes::io::detail
