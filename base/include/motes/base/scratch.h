#pragma once
/// Arrays in files instead of memory, for frames that do not fit:
///
///     auto scratch = std::make_shared<Scratch>("/scratch", 2'000'000'000);
///     ScratchArray<float> response(scratch, voxels);  // in memory if scratch is null
///
/// Such arrays are read and written like any others, so results are the same bits. They are memory-mapped
/// files: the system keeps their pages in memory while there is room, and otherwise on disk. To bound the
/// resident memory of this process, a thread checks it every few milliseconds and unmaps the pages of all
/// arrays when it exceeds half of the bound. Loops that traverse arrays in order read the disk in order.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>

namespace motes {

/// A folder for arrays, with a bound on the resident memory of the process.
class Scratch {
 public:
  /// Resident memory stays near half of `resident_bytes` if everything but the arrays needs less than that.
  /// Throws UsageError if the folder is in memory (tmpfs), ResourceError if files cannot be created there.
  Scratch(const std::filesystem::path& folder, std::int64_t resident_bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::int64_t resident_bytes() const;

  /// Throws ResourceError, naming `what`, if the disk has less free space than this.
  void require_room(double bytes, const std::string& what) const;

  /// The file of an array. Must not outlive the Scratch.
  class File;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class Scratch::File {
 public:
  File() = default;
  /// A file of zeros. Throws ResourceError for errors of the disk.
  File(Scratch& scratch, std::size_t bytes);
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  void* data() const { return data_; }

 private:
  Scratch* scratch_ = nullptr;
  void* data_ = nullptr;
};

/// An array of fixed size [size()] in a file or in memory. Movable, not copyable.
template <class T>
class ScratchArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ScratchArray() = default;
  /// In a file, with values 0; or in memory, uninitialised, if `scratch` is null.
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

  std::shared_ptr<Scratch> scratch_;  // first, so that it is destroyed after the file
  Scratch::File file_;
  std::unique_ptr<T[]> memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace motes
