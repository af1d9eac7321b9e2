/// Mapped files, and the thread that bounds the resident memory.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/scratch.h>
#include <motes/base/system/mapped_file.h>
#include <motes/base/system/memory.h>

namespace motes {
namespace {

using system::name_of;

constexpr auto kLook = std::chrono::milliseconds(2);  // interval between checks of resident memory
constexpr std::int64_t kLeastBetween = std::int64_t{32}
                                       << 20;  // bytes that become resident before pages are released

constexpr const char* kAdvice = "; set TMPDIR to a folder on a disk with more room";

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", bytes / 1e9);
  return text;
}

}  // namespace

struct Scratch::State {
  std::filesystem::path folder;
  std::int64_t bound = 0;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::map<void*, system::MappedFile> files;
  std::int64_t next = 0;  ///< resident bytes at which pages are released
  std::thread watcher;

  /// Releases pages in a loop. Other resident memory stays; if there is much of it, pages are released less
  /// often.
  void watch() {
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, kLook, [this] { return stop; })) {
      if (system::resident_memory() < next) continue;
      for (const auto& [data, file] : files) file.release_pages();
      next = std::max(bound / 2, system::resident_memory() + std::max(bound / 8, kLeastBetween));
    }
  }
};

Scratch::Scratch(const std::filesystem::path& folder, std::int64_t resident_bytes)
    : state_(std::make_unique<State>()) {
  state_->folder = folder;
  state_->bound = resident_bytes;
  state_->next = resident_bytes / 2;
  if (system::is_memory(folder))
    throw UsageError(name_of(folder) + ": is memory, not a disk (tmpfs); set TMPDIR to a folder on a disk");
  int error = 0;
  const system::MappedFile trial(folder, system::page_size(), error);
  if (error != 0)
    throw ResourceError(name_of(folder) + ": cannot hold large arrays: " + std::strerror(error) + kAdvice);
  try {
    state_->watcher = std::thread([this] { state_->watch(); });
  } catch (const std::system_error& refused) {
    throw ResourceError(std::string("the system refused to start a thread:  ") + refused.what() +
                        "; end other programs");
  }
}

Scratch::~Scratch() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->stopped.notify_all();
  state_->watcher.join();
}

std::int64_t Scratch::resident_bytes() const { return state_->bound; }

void Scratch::require_room(double bytes, const std::string& what) const {
  std::error_code unknown;
  const auto room = std::filesystem::space(name_of(state_->folder), unknown);
  if (unknown || static_cast<double>(room.available) >= bytes) return;
  throw ResourceError(name_of(state_->folder) + ": " + what + " needs " + gigabytes(bytes) +
                      " here, but the disk has room for " + gigabytes(static_cast<double>(room.available)) +
                      kAdvice);
}

Scratch::File::File(Scratch& scratch, std::size_t bytes) : scratch_(&scratch) {
  if (bytes == 0) return;
  State& state = *scratch.state_;
  int error = 0;
  system::MappedFile file(state.folder, bytes, error);
  if (error != 0)
    throw ResourceError(name_of(state.folder) + ": no array of " + gigabytes(static_cast<double>(bytes)) +
                        " can be made: " + std::strerror(error) + kAdvice);
  data_ = file.data();
  const std::lock_guard lock(state.mutex);
  state.files.emplace(data_, std::move(file));
}

Scratch::File::~File() {
  if (data_ == nullptr) return;
  std::map<void*, system::MappedFile>::node_type gone;  // unmapped after the lock is released
  const std::lock_guard lock(scratch_->state_->mutex);
  gone = scratch_->state_->files.extract(data_);
}

Scratch::File::File(File&& other) noexcept
    : scratch_(std::exchange(other.scratch_, nullptr)), data_(std::exchange(other.data_, nullptr)) {}

Scratch::File& Scratch::File::operator=(File&& other) noexcept {
  std::swap(scratch_, other.scratch_);
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace motes
