/// Commits a batch of files with one sync of the file system.

#include "io/images/file_batch.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>
#include <motes/io/unfinished_files.h>

#include "io/files/temporary_name.h"

namespace motes::io::detail {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& doing, int error) {
  throw ResourceError(path.string() + ": " + doing + ": " + std::strerror(error != 0 ? error : EIO) +
                      "; check permissions and free space, or choose another output");
}

}  // namespace

FileBatch::FileBatch(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (std::filesystem::is_symlink(folder_, error))
    fail(folder_, "is a link, which is not written through", ELOOP);
  std::filesystem::create_directories(folder_, error);
  if (error) fail(folder_, "cannot create folder", error.value());
}

FileBatch::~FileBatch() {
  std::error_code ignored;
  for (const auto& [temporary, target] : files_) {
    std::filesystem::remove(temporary, ignored);
    forget_unfinished(temporary);
  }
}

void FileBatch::add(const std::string& name, std::string_view bytes) {
  const auto& [path, target] = files_.emplace_back(folder_ / temporary_name(name, ""), folder_ / name);
  note_unfinished(path);
  if (const int error = system::create_new_file(path)) fail(target, "cannot write", error);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) fail(target, "cannot write", errno);
}

void FileBatch::commit() {
  if (const int error = system::sync_file_system(folder_)) fail(folder_, "cannot write to disk", error);
  for (const auto& [temporary, target] : files_) {
    std::error_code failed;
    std::filesystem::rename(temporary, target, failed);
    if (failed) fail(target, "cannot put the finished file in place", failed.value());
  }
  for (const auto& [temporary, target] : files_) forget_unfinished(temporary);
  files_.clear();
}

}  // namespace motes::io::detail
