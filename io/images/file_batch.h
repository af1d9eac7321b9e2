#pragma once
/// Many output files that appear together, since syncing each one would take longer than writing it.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace motes::io::detail {

/// Files of one folder are written under temporary names; commit() syncs the file system once and renames
/// them all. Uncommitted files are removed. Throws ResourceError (path and reason) if the disk fails.
class FileBatch {
 public:
  /// Creates the folder.
  explicit FileBatch(std::filesystem::path folder);
  ~FileBatch();
  FileBatch(const FileBatch&) = delete;
  FileBatch& operator=(const FileBatch&) = delete;

  void add(const std::string& name, std::string_view bytes);
  void commit();

 private:
  std::filesystem::path folder_;
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  ///< temporary, target
};

}  // namespace motes::io::detail
