#pragma once
/// Owners of HDF5 identifiers, and the library's errors as text.

#include <string>
#include <utility>

#include <hdf5.h>

namespace motes::io::detail::h5 {

/// Owns an HDF5 identifier; closes it with the given function.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  hid_t id() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  /// Closes now; false if the library could not (for example if the disk rejected a file's last bytes).
  bool close_now() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  void reset() noexcept {
    if (id_ >= 0) close_(id_);
    id_ = -1;
  }
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Prevents the library from printing its error stack, and from cleaning up at exit. Call it before the first
/// use of HDF5 in a thread.
void silence();

/// The innermost message of the last failed call.
std::string last_error();

/// Whether the last failed call ran out of memory.
bool out_of_memory();

}  // namespace motes::io::detail::h5
