#pragma once
/// Ranks with a GPU each (base/communicator.h), whose arrays travel from device to device: NCCL, on the
/// arena's stream. NVLink multicast stays off.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <motes/base/communicator.h>
#include <motes/base/gpu/arena.cuh>

namespace motes::gpu {

class DeviceCommunicator {
 public:
  /// Collective. The device of this rank must be current; no two ranks of one machine may share one. Throws
  /// ResourceError on every rank where NCCL cannot be loaded or does not start on one.
  DeviceCommunicator(Communicator& hosts, int device);
  ~DeviceCommunicator();
  DeviceCommunicator(const DeviceCommunicator&) = delete;
  DeviceCommunicator& operator=(const DeviceCommunicator&) = delete;

  /// Of this rank's host communicator, made at the first call and kept with it.
  static DeviceCommunicator& of(Communicator& hosts, int device);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// all [size * bytes] = every rank's `mine` [bytes], in device memory.
  void all_gather(const void* mine, void* all, std::size_t bytes, cudaStream_t stream);
  /// values[k] = the least of all ranks' values[k], in device memory.
  void all_reduce_min(std::int64_t* values, std::size_t count, cudaStream_t stream);

  /// What this rank gave to the calls above.
  Communicator::Traffic traffic() const { return traffic_; }

 private:
  struct Nccl;
  int rank_, size_, device_;
  std::unique_ptr<Nccl> nccl_;  ///< nullptr: one rank
  Communicator::Traffic traffic_;
};

}  // namespace motes::gpu
