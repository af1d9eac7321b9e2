#pragma once
/// Many output files that appear together: syncing each separately would take longer than writing it.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace motes::io::detail {

/// Files of one folder are written beside their names; commit() syncs the file system once and renames them
/// all. What was not committed is removed. Throws ResourceError (path and reason) where the disk refuses.
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
