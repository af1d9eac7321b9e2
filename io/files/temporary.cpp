/// Makes temporary files and folders, and removes those of killed processes.

#include "io/files/temporary.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <motes/base/system/files.h>
#include <motes/io/atomic_file.h>
#include <motes/io/unfinished_files.h>

#include "io/files/disk_error.h"
#include "io/files/temporary_name.h"

namespace motes::io {
namespace {

namespace fs = std::filesystem;

/// Temporary files and folders in the folder, with the parts of their names.
std::vector<std::pair<fs::path, detail::TemporaryOf>> temporaries_in(const fs::path& folder) {
  std::vector<std::pair<fs::path, detail::TemporaryOf>> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const fs::file_type type = entry.symlink_status(ignored).type();
    if (type != fs::file_type::regular && type != fs::file_type::directory) continue;
    auto of = detail::read_temporary_name(entry.path().filename().string());
    if (!of.stem.empty()) found.emplace_back(entry.path(), std::move(of));
  }
  return found;
}

/// Removes temporaries of the same stem whose processes have ended. Each folder is listed only once, since a
/// series may write many files to it.
void sweep(const fs::path& folder, const std::string& stem) {
  static std::mutex mutex;
  static std::map<fs::path, std::vector<std::pair<fs::path, detail::TemporaryOf>>> seen;
  const std::scoped_lock lock(mutex);
  const auto [entry, first] = seen.try_emplace(folder);
  if (first) entry->second = temporaries_in(folder);
  for (const auto& [path, of] : entry->second) {
    std::error_code ignored;
    if (of.left && of.stem == stem) fs::remove_all(path, ignored);
  }
}

int make(const fs::path& path, detail::Temporary::Kind kind) {
  if (kind == detail::Temporary::Kind::file) return system::create_new_file(path);
  std::error_code error;
  return fs::create_directory(path, error) ? 0 : error ? error.value() : EEXIST;
}

}  // namespace

namespace detail {

Temporary::Temporary(const fs::path& target, Kind kind) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const std::string stem = target.stem().string();
  sweep(folder, stem);
  path_ = folder / temporary_name(stem, target.extension().string());
  note_unfinished(path_);
  if (const int error = make(path_, kind)) {
    forget_unfinished(path_);
    fail_on_disk(target, kind == Kind::file ? "cannot write" : "cannot create folder", error);
  }
}

Temporary::~Temporary() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  forget_unfinished(path_);
}

void Temporary::release() {
  forget_unfinished(path_);
  path_.clear();
}

}  // namespace detail

void remove_stale_temporaries(const fs::path& folder, const std::vector<std::string>& stems) {
  for (const auto& [path, of] : temporaries_in(folder)) {
    std::error_code ignored;
    if (stems.empty() || std::find(stems.begin(), stems.end(), of.stem) != stems.end())
      fs::remove_all(path, ignored);
  }
}

}  // namespace motes::io
