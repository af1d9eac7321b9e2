/// The list of temporary files, behind a lock.

#include <cstddef>
#include <new>
#include <set>
#include <system_error>

#include <motes/io/unfinished_files.h>

namespace motes::io {
namespace {

struct Unfinished {
  std::mutex mutex;
  std::set<std::filesystem::path> files;
};

/// Never destroyed, since other threads may write while the process ends. In static memory, since a process
/// without memory asks for it, too.
Unfinished& unfinished() {
  alignas(Unfinished) static std::byte place[sizeof(Unfinished)];
  static auto* const all = new (place) Unfinished;
  return *all;
}

}  // namespace

void note_unfinished(const std::filesystem::path& file) {
  const std::scoped_lock lock(unfinished().mutex);
  unfinished().files.insert(file);
}

void forget_unfinished(const std::filesystem::path& file) {
  const std::scoped_lock lock(unfinished().mutex);
  unfinished().files.erase(file);
}

std::unique_lock<std::mutex> remove_unfinished_files() {
  std::unique_lock lock(unfinished().mutex);
  std::error_code ignored;
  for (const std::filesystem::path& file : unfinished().files) std::filesystem::remove_all(file, ignored);
  return lock;
}

}  // namespace motes::io
