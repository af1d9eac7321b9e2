/// Devices, device memory and arenas through the CUDA runtime.

#include <algorithm>
#include <cstdio>
#include <utility>

#include <motes/base/communicator.h>
#include <motes/base/gpu/arena.cuh>
#include <motes/base/gpu/device.h>
#include <motes/base/gpu/resources.cuh>
#include <motes/base/host_blocks.h>

namespace motes::gpu {
namespace {

std::string mib(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

/// cudaMalloc; on failure, the error states the needed and the free memory.
void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = allocate_device(&data, bytes);
  if (error == cudaSuccess) return data;
  cudaGetLastError();
  std::size_t free = 0, total = 0;
  if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess)
    throw ResourceError("device memory: " + mib(bytes) + " more are needed, and " + mib(free) + " of " +
                        mib(total) + " are free; use a smaller problem, or the cpu back end");
  throw ResourceError(std::string("no device memory: ") + cudaGetErrorString(error));
}

std::string why_no_device(cudaError_t error) {
  if (error == cudaSuccess) return "no CUDA device was found";
  if (error != cudaErrorInsufficientDriver) return cudaGetErrorString(error);
  return "no NVIDIA driver, or one older than CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
         std::to_string(CUDART_VERSION % 1000 / 10);
}

}  // namespace

DeviceReport list_devices() {
  DeviceReport report;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    report.why_none = why_no_device(error);
    return report;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    report.devices.push_back({index, properties.name, properties.major, properties.minor,
                              properties.multiProcessorCount, properties.totalGlobalMem});
  }
  if (report.devices.empty()) report.why_none = "the CUDA devices do not respond";
  return report;
}

int device_of_rank(Communicator& ranks) {
  int count = 0;
  ranks.agreed([&] {
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      cudaGetLastError();
      throw ResourceError("no GPU on this rank's machine; use the cpu back end");
    }
    const int here = launched().size > 1 ? launched().local_size : ranks.size();
    if (here > count)
      throw ResourceError(std::to_string(here) + " ranks on a machine with " + std::to_string(count) +
                          (count == 1 ? " GPU" : " GPUs") + "; start one rank per GPU");
  });
  const int place = launched().size > 1 ? launched().local_rank : ranks.rank();
  return place % count;
}

DeviceBytes::DeviceBytes(std::size_t bytes, int device) : size_(bytes), device_(device) {
  require(cudaSetDevice(device), "selecting it");
  if (bytes > 0) data_ = allocate(bytes);
}
DeviceBytes::~DeviceBytes() {
  if (data_ != nullptr) cudaFree(data_);
}
DeviceBytes::DeviceBytes(DeviceBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      device_(other.device_) {}
DeviceBytes& DeviceBytes::operator=(DeviceBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(device_, other.device_);
  return *this;
}
void DeviceBytes::upload(const void* from, std::size_t bytes, std::size_t offset) {
  if (offset > size_ || bytes > size_ - offset)
    throw std::invalid_argument("DeviceBytes::upload: out of range");
  if (bytes == 0) return;
  MOTES_CUDA(cudaMemcpy(static_cast<char*>(data_) + offset, from, bytes, cudaMemcpyHostToDevice));
  // Pageable memory has been read, but the copy may still be running, and arenas' streams do not wait for it.
  MOTES_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
}
void DeviceBytes::download(void* to, std::size_t bytes, std::size_t offset) const {
  if (offset > size_ || bytes > size_ - offset)
    throw std::invalid_argument("DeviceBytes::download: out of range");
  if (bytes > 0)
    MOTES_CUDA(cudaMemcpy(to, static_cast<const char*>(data_) + offset, bytes, cudaMemcpyDeviceToHost));
}

Arena::Arena(int device) : device_(device) {
  require(cudaSetDevice(device), "selecting it");
  MOTES_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device));
  MOTES_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}

Arena::~Arena() {
  cudaStreamSynchronize(stream_);
  for (const Block& block : blocks_) cudaFree(block.data);
  cudaFreeHost(staging_);
  cudaFreeHost(pinned_);
  cudaStreamDestroy(stream_);
}

std::size_t Arena::bytes() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  return total;
}

void Arena::reset() {
  require(cudaSetDevice(device_), "selecting it");
  used_ = 0;
  if (blocks_.size() < 2) return;
  const std::size_t total = bytes();
  for (const Block& block : blocks_) cudaFree(block.data);
  blocks_.clear();
  blocks_.push_back({static_cast<char*>(allocate(total)), total});
}

void Arena::reserve(std::size_t bytes) {
  if (!blocks_.empty()) return;
  void* data = nullptr;
  if (allocate_device(&data, bytes) == cudaSuccess)
    blocks_.push_back({static_cast<char*>(data), bytes});
  else
    cudaGetLastError();
}

void* Arena::pinned() {
  if (pinned_ == nullptr) MOTES_CUDA(allocate_pinned(&pinned_, 4096));
  return pinned_;
}

char* Arena::staging(std::size_t bytes) {
  if (bytes <= staging_bytes_) return staging_;
  cudaFreeHost(std::exchange(staging_, nullptr));
  staging_bytes_ = 0;
  MOTES_CUDA(allocate_pinned(&staging_, bytes));
  staging_bytes_ = bytes;
  return staging_;
}

void* Arena::take_bytes(std::size_t bytes) {
  constexpr std::size_t kAlign = 256, kLeast = std::size_t{1} << 20;
  bytes = (std::max<std::size_t>(bytes, 1) + kAlign - 1) / kAlign * kAlign;
  if (blocks_.empty() || blocks_.back().size - used_ < bytes) {
    const std::size_t size = std::max(bytes, kLeast);
    blocks_.push_back({static_cast<char*>(allocate(size)), size});
    used_ = 0;
  }
  void* piece = blocks_.back().data + used_;
  used_ += bytes;
  return piece;
}

}  // namespace motes::gpu

namespace motes {

Workspace::Workspace() = default;
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
gpu::Arena& Workspace::arena(int device) {
  if (!arena_ || arena_->device() != device) arena_ = std::make_unique<gpu::Arena>(device);
  return *arena_;
}
std::size_t Workspace::device_bytes() const { return arena_ ? arena_->bytes() : 0; }

}  // namespace motes
