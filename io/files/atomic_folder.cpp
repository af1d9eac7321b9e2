/// Temporary folders and their commit.

#include "io/files/atomic_folder.h"

#include <string>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>
#include <motes/base/system/program.h>

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& doing, const std::error_code& error) {
  throw ResourceError(path.string() + ": " + doing + ": " + error.message() +
                      "; check permissions and free space, or choose another output");
}

/// Removed with all in it, whatever happens, unless release() was called.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }
  void release() { path_.clear(); }

 private:
  fs::path path_;
};

void sync(const fs::path& folder) {
  if (const int error = system::sync_file_system(folder); error != 0)
    fail(folder, "cannot write to disk", std::error_code(error, std::generic_category()));
}

}  // namespace

void write_folder_atomically(const fs::path& target, const std::function<bool(const fs::path&)>& may_replace,
                             const std::function<void(const fs::path&)>& write) {
  fs::path place = target.lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // "tracks.geff/"
  std::error_code error;
  const bool there = fs::exists(fs::symlink_status(place, error));
  if (there && !(fs::is_directory(place, error) && (fs::is_empty(place, error) || may_replace(place))))
    throw UsageError(place.string() +
                     ": is there already and is not a folder of this format; choose another name");
  const fs::path parent = place.has_parent_path() ? place.parent_path() : fs::path(".");
  fs::create_directories(parent, error);
  if (error) fail(parent, "cannot create folder", error);

  const std::string suffix = "-" + std::to_string(system::this_process());
  TemporaryFolder made(parent / ("." + place.filename().string() + ".tmp" + suffix));
  fs::remove_all(made.path(), error);
  fs::create_directory(made.path(), error);
  if (error) fail(made.path(), "cannot create folder", error);
  write(made.path());
  sync(made.path());
  TemporaryFolder old(parent / ("." + place.filename().string() + ".old" + suffix));
  if (there) fs::rename(place, old.path(), error);
  if (error) fail(place, "cannot replace the folder", error);
  fs::rename(made.path(), place, error);
  if (error) fail(place, "cannot put the finished folder in place", error);
  made.release();
}

}  // namespace motes::io::detail
