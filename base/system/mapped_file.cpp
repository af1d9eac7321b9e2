/// Unnamed files mapped into memory, on Linux.

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <motes/base/system/mapped_file.h>

namespace motes::system {
namespace {

/// Returns -1 if the folder does not allow it.
int nameless_file(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  std::string name = folder + "/.motes-scratch-XXXXXX";  // for file systems without unnamed files
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

/// Reserves space for the whole file, since a page without space would later end the process.
int reserve(int file, std::size_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  if (fallocate(file, 0, 0, size) == 0) return 0;
  return errno == EOPNOTSUPP ? posix_fallocate(file, 0, size) : errno;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& folder, std::size_t bytes, int& error) {
  error = 0;
  if (bytes == 0) return;
  const int file = nameless_file(name_of(folder));
  if (file < 0) {
    error = errno;
    return;
  }
  error = reserve(file, bytes);
  if (error == 0) {
    void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data == MAP_FAILED) {
      error = errno;
    } else {
      data_ = data;
      bytes_ = bytes;
      madvise(data, bytes, MADV_DONTFORK);
    }
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) madvise(data_, bytes_, MADV_DONTNEED);
}

std::string name_of(const std::filesystem::path& folder) { return folder.empty() ? "." : folder.string(); }

bool is_memory(const std::filesystem::path& folder) {
  struct statfs system {};
  return statfs(name_of(folder).c_str(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

}  // namespace motes::system
