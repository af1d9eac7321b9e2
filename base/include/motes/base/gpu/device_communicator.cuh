#pragma once
/// Communication between ranks with a GPU each (base/communicator.h): arrays are sent from device to device
/// by NCCL, on the arena's stream. NVLink multicast is off.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <motes/base/communicator.h>
#include <motes/base/gpu/arena.cuh>

namespace motes::gpu {

class DeviceCommunicator {
 public:
  /// Collective. The device of this rank must be current; ranks on one machine must use different devices.
  /// Throws ResourceError on every rank if NCCL cannot be loaded or fails to start on any of them, for
  /// example if a device has too little free memory for it (two H200 need 2300 MiB).
  DeviceCommunicator(Communicator& hosts, int device);
  ~DeviceCommunicator();
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;

  /// The device communicator of `hosts`, created by the first call and kept as long as it.
  static DeviceCommunicator& of(Communicator& hosts, int device);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// all [size * bytes] = every rank's `mine` [bytes], in device memory.
  void all_gather(const void* mine, void* all, std::size_t bytes, cudaStream_t stream);
  /// values[k] = the minimum of all ranks' values[k], in device memory.
  void all_reduce_min(std::int64_t* values, std::size_t count, cudaStream_t stream);

  /// Copies the values of `root` to every rank, in device memory.
  void broadcast(void* values, std::size_t bytes, int root, cudaStream_t stream);
  /// Rank 0's `all` = every rank's `mine`, in rank order. bytes[k]: of rank k. Other ranks pass no `all`.
  void gather(const void* mine, void* all, std::span<const std::size_t> bytes, cudaStream_t stream);

  /// Calls and bytes of the functions above; seconds are not measured.
  Communicator::Traffic traffic() const { return traffic_; }

 private:
  struct Nccl;
  void wait_for_all(Communicator& hosts);  ///< until all are connected; throws if one is not
  void connect();  ///< calls every operation once, so that NCCL takes its memory before others take it
  [[noreturn]] void refuse(const std::string& why) const;

  int rank_, size_, device_;
  std::size_t free_bytes_ = 0;  ///< free memory of the device before NCCL was started
  std::unique_ptr<Nccl> nccl_;  ///< nullptr: one rank
  Communicator::Traffic traffic_;
};

}  // namespace motes::gpu
