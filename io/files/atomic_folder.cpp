/// Temporary folders and their commit.

#include "io/files/atomic_folder.h"

#include <string>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>

#include "io/files/temporary.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& doing, const std::error_code& error) {
  throw ResourceError(path.string() + ": " + doing + ": " + error.message() +
                      "; check permissions and free space, or choose another output");
}

void sync(const fs::path& folder) {
  if (const int error = system::sync_file_system(folder); error != 0)
    fail(folder, "cannot write to disk", std::error_code(error, std::generic_category()));
}

}  // namespace

void write_folder_atomically(const fs::path& target, const std::function<bool(const fs::path&)>& may_replace,
                             const std::function<void(const fs::path&)>& write) {
  fs::path place = target.lexically_normal();
  if (!place.has_filename()) place = place.parent_path();  // for "tracks.geff/"
  std::error_code error;
  const bool there = fs::exists(fs::symlink_status(place, error));
  if (there && !(fs::is_directory(place, error) && (fs::is_empty(place, error) || may_replace(place))))
    throw UsageError(place.string() + ": exists and is not a folder of this format; choose another name");
  const fs::path parent = place.has_parent_path() ? place.parent_path() : fs::path(".");
  fs::create_directories(parent, error);
  if (error) fail(parent, "cannot create folder", error);

  Temporary made(place, Temporary::Kind::folder);
  write(made.path());
  sync(made.path());
  if (!there) {
    fs::rename(made.path(), place, error);
    if (error) fail(place, "cannot put the finished folder in place", error);
    made.release();
    return;
  }
  // The earlier folder gets the temporary name, and is removed with it.
  if (system::exchange(made.path(), place) == 0) return;
  const fs::path old = parent / ("." + place.filename().string() + ".old-" + system::random_digits());
  fs::rename(place, old, error);
  if (error) fail(place, "cannot replace the folder", error);
  fs::rename(made.path(), place, error);
  std::error_code ignored;
  if (error) {
    fs::rename(old, place, ignored);
    fail(place, "cannot put the finished folder in place", error);
  }
  made.release();
  fs::remove_all(old, ignored);
}

}  // namespace motes::io::detail
