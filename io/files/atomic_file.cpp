/// Output files and their commit.

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>
#include <motes/io/atomic_file.h>

#include "io/files/disk_error.h"
#include "io/files/temporary.h"

namespace motes::io {
namespace {

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.parent_path().empty() ? "." : target.parent_path();
}

/// Whether the target exists and is not a file: a device, a pipe, a descriptor of a shell. Replacing it by a
/// file would leave its readers without data, and make /dev/null a file.
bool is_stream(const std::filesystem::path& target, const std::filesystem::file_status& status) {
  if (!std::filesystem::exists(status) || std::filesystem::is_directory(status)) return false;
  if (!std::filesystem::is_regular_file(status)) return true;
  const std::string name = std::filesystem::absolute(target).lexically_normal().string();
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)), place_(target_) {
  std::error_code none;
  const std::filesystem::file_status there = std::filesystem::status(target_, none);
  if (std::filesystem::is_directory(there)) detail::fail_on_disk(target_, "cannot write", EISDIR);
  if (is_stream(target_, there)) {
    stream_ = true;
    temporary_ = std::make_unique<detail::Temporary>(
        std::filesystem::temp_directory_path() / target_.filename(), detail::Temporary::Kind::file);
    return;
  }
  if (std::filesystem::exists(there) && std::filesystem::is_symlink(target_, none))
    place_ = std::filesystem::canonical(target_);
  const std::filesystem::path folder = folder_of(place_);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) detail::fail_on_disk(folder, "cannot create folder", error.value());
  if (const int refused = system::refuses_files(folder))
    detail::fail_on_disk(folder, "folder is not writable", refused);
  temporary_ = std::make_unique<detail::Temporary>(place_, detail::Temporary::Kind::file);
}

AtomicFile::~AtomicFile() = default;

const std::filesystem::path& AtomicFile::path() const { return temporary_->path(); }

void AtomicFile::commit() {
  if (stream_) {
    if (const int error = system::append_to_stream(path(), target_))
      detail::fail_on_disk(target_, "cannot write", error);
    return;
  }
  if (const int error = system::sync_file(path()))
    detail::fail_on_disk(path(), "cannot write to disk", error);
  std::error_code error;
  std::filesystem::rename(path(), place_, error);
  if (error) detail::fail_on_disk(target_, "cannot put the finished file in place", error.value());
  temporary_->release();
  const std::filesystem::path folder = folder_of(place_);
  if (const int unsynced = system::sync_folder(folder))
    detail::fail_on_disk(folder, "cannot write to disk", unsynced);
}

void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write) {
  AtomicFile file(target);
  write(file.path());
  file.commit();
}

void write_text(const std::filesystem::path& target, std::string_view text) {
  write_atomically(target, [&](const std::filesystem::path& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) detail::fail_on_disk(target, "cannot write", errno != 0 ? errno : EIO);
  });
}

}  // namespace motes::io
