#pragma once
/// Arrays in files instead of memory, for frames that do not fit:
///
///     auto scratch = std::make_shared<Scratch>("/scratch", 2'000'000'000);
///     ScratchArray<float> response(scratch, voxels);  // in memory where scratch is null
///
/// Code reads and writes such arrays as any others, so results are the same bits. The system holds their
/// pages in memory while it has room, and else on the disk; of this process they are resident only while they
/// are used: a thread looks at the resident memory every few milliseconds, and lets go of all pages of these
/// arrays where it passes half of the bound. Loops that go through arrays in order read the disk in order.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>

namespace motes {

/// A folder for arrays, and how much memory the process is to take.
class Scratch {
 public:
  /// Resident memory stays near half of `resident_bytes` where everything but the arrays takes less than
  /// that. Throws UsageError where the folder is memory itself (tmpfs), ResourceError where it refuses files.
  Scratch(const std::filesystem::path& folder, std::int64_t resident_bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::int64_t resident_bytes() const;

  /// Throws ResourceError where the disk has less room than this for `what`.
  void require_room(double bytes, const std::string& what) const;

  /// An array's file. Must not outlive the Scratch.
  class File;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Scratch::File {
 public:
  File() = default;
  /// Zeros. Throws ResourceError where the disk is full or refuses.
  File(Scratch& scratch, std::size_t bytes);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void* data() const { return data_; }

 private:
  Scratch* scratch_ = nullptr;
  void* data_ = nullptr;
};

/// [size()] An array that is not copied and does not grow, in a file or in memory.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ScratchArray() = default;
  /// Zeros in a file; values of any kind in memory, where `scratch` is null.
  ScratchArray(std::shared_ptr<Scratch> scratch, std::size_t count)
      : scratch_(std::move(scratch)), size_(count) {
    if (scratch_)
      file_ = Scratch::File(*scratch_, count * sizeof(T));
    else
      memory_ = std::make_unique_for_overwrite<T[]>(count);
    data_ = scratch_ ? static_cast<T*>(file_.data()) : memory_.get();
  }
  ScratchArray(ScratchArray&& other) noexcept { swap(other); }
  ScratchArray& operator=(ScratchArray&& other) noexcept {
    swap(other);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  const std::shared_ptr<Scratch>& scratch() const { return scratch_; }

 private:
  void swap(ScratchArray& other) noexcept {
    std::swap(scratch_, other.scratch_);
    std::swap(file_, other.file_);
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::shared_ptr<Scratch> scratch_;  // first: the file goes before it
  Scratch::File file_;
  std::unique_ptr<T[]> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace motes
