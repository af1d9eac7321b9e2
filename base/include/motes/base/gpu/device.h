#pragma once
/// The GPUs of this machine, and device memory, for code that does not include CUDA headers.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace motes {
class Communicator;
}

namespace motes::gpu {

struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

struct DeviceReport {
  std::vector<DeviceInfo> devices;
  std::string why_none;  ///< the reason, if devices is empty
};

/// The devices that this build can use; asks the driver at each call. Does not throw if there is none.
DeviceReport list_devices();

/// Collective. The device of this rank, if the machine has as many as ranks. Throws ResourceError on every
/// rank if it has fewer.
int device_of_rank(Communicator& ranks);

/// Owns device memory, for callers that keep their inputs there (Space::device) and do not compile with nvcc.
/// Throws ResourceError, with the number of bytes, if there is no device or not enough memory on it.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t bytes, int device = 0);
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept;
  DeviceBytes& operator=(DeviceBytes&& other) noexcept;

  void* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Copy from or to host memory, starting at `offset` bytes of the device memory; return when done. Throw
  /// std::invalid_argument out of range.
  void upload(const void* from, std::size_t bytes, std::size_t offset = 0);
  void download(void* to, std::size_t bytes, std::size_t offset = 0) const;

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
  int device_ = 0;
};

/// An array of T in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count, int device = 0) : bytes_(count * sizeof(T), device) {}
  explicit DeviceArray(std::span<const T> values, int device = 0) : DeviceArray(values.size(), device) {
    bytes_.upload(values.data(), values.size_bytes());
  }
  T* data() const { return static_cast<T*>(bytes_.data()); }
  std::size_t size() const { return bytes_.size() / sizeof(T); }
  std::span<const T> span() const { return {data(), size()}; }
  std::vector<T> to_host() const {
    std::vector<T> values(size());
    bytes_.download(values.data(), bytes_.size());
    return values;
  }

 private:
  DeviceBytes bytes_;
};

}  // namespace motes::gpu
