/// Collective operations through NCCL, which is loaded when it is first needed.

#include <cstdlib>
#include <string>

#include <nccl.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/check.cuh>
#include <motes/base/gpu/device_communicator.cuh>
#include <motes/base/system/program.h>
#include <motes/base/system/shared_library.h>

namespace motes::gpu {
namespace {

/// The functions of libnccl.so.2 used here, loaded when a rank first needs them, so that motes starts
/// without NCCL.
struct Library {
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) comm_init_rank;
  decltype(&ncclCommDestroy) comm_destroy;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclGetErrorString) get_error_string;

  Library() {
    const char* given = std::getenv("MOTES_NCCL_LIBRARY");
    std::string why;
    const system::SharedLibrary library(given != nullptr ? given : "libnccl.so.2", system::Symbols::local,
                                        why);
    if (!library.loaded())
      throw ResourceError("NCCL cannot be loaded: " + why +
                          "; install libnccl2, or name the file in MOTES_NCCL_LIBRARY");
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library.find(name));
      if (function == nullptr) throw ResourceError(std::string("NCCL has no ") + name + "; install NCCL 2");
    };
    find(get_unique_id, "ncclGetUniqueId");
    find(comm_init_rank, "ncclCommInitRank");
    find(comm_destroy, "ncclCommDestroy");
    find(all_gather, "ncclAllGather");
    find(all_reduce, "ncclAllReduce");
    find(broadcast, "ncclBroadcast");
    find(send, "ncclSend");
    find(receive, "ncclRecv");
    find(group_start, "ncclGroupStart");
    find(group_end, "ncclGroupEnd");
    find(get_error_string, "ncclGetErrorString");
  }
  void check(ncclResult_t result, const char* what) const {
    if (result != ncclSuccess)
      throw ResourceError(std::string("NCCL: ") + what + ": " + get_error_string(result));
  }
};
const Library& library() {
  static const Library loaded;
  return loaded;
}

}  // namespace

struct DeviceCommunicator::Nccl {
  ncclComm_t comm = nullptr;
  ~Nccl() {
    if (comm != nullptr) library().comm_destroy(comm);
  }
};

DeviceCommunicator::DeviceCommunicator(Communicator& hosts, int device)
    : rank_(hosts.rank()), size_(hosts.size()), device_(device) {
  if (size_ == 1) return;
  if (std::getenv("NCCL_NVLS_ENABLE") == nullptr)
    system::set_environment("NCCL_NVLS_ENABLE", "0");  // no NVLink multicast
  ncclUniqueId id{};
  hosts.agreed([&] {
    library();
    if (rank_ == 0) library().check(library().get_unique_id(&id), "making an identifier");
  });
  hosts.broadcast(std::span(&id, 1));
  hosts.agreed([&] {
    nccl_ = std::make_unique<Nccl>();
    library().check(library().comm_init_rank(&nccl_->comm, size_, id, rank_), "connecting the devices");
  });
}

DeviceCommunicator::~DeviceCommunicator() = default;

DeviceCommunicator& DeviceCommunicator::of(Communicator& hosts, int device) {
  auto kept = std::static_pointer_cast<DeviceCommunicator>(hosts.attachment());
  if (kept == nullptr || kept->device_ != device) {
    kept = std::make_shared<DeviceCommunicator>(hosts, device);
    hosts.attach(kept);
  }
  return *kept;
}

void DeviceCommunicator::all_gather(const void* mine, void* all, std::size_t bytes, cudaStream_t stream) {
  if (size_ == 1) {
    if (mine != all) MOTES_CUDA(cudaMemcpyAsync(all, mine, bytes, cudaMemcpyDeviceToDevice, stream));
    return;
  }
  ++traffic_.calls;
  traffic_.bytes += static_cast<std::int64_t>(bytes);
  library().check(library().all_gather(mine, all, bytes, ncclUint8, nccl_->comm, stream), "all-gather");
}

void DeviceCommunicator::all_reduce_min(std::int64_t* values, std::size_t count, cudaStream_t stream) {
  if (size_ == 1 || count == 0) return;
  ++traffic_.calls;
  traffic_.bytes += static_cast<std::int64_t>(count * sizeof *values);
  library().check(library().all_reduce(values, values, count, ncclInt64, ncclMin, nccl_->comm, stream),
                  "all-reduce");
}

void DeviceCommunicator::broadcast(void* values, std::size_t bytes, int root, cudaStream_t stream) {
  if (size_ == 1 || bytes == 0) return;
  ++traffic_.calls;
  traffic_.bytes += rank_ == root ? static_cast<std::int64_t>(bytes) : 0;
  library().check(library().broadcast(values, values, bytes, ncclUint8, root, nccl_->comm, stream),
                  "broadcast");
}

void DeviceCommunicator::gather(const void* mine, void* all, std::span<const std::size_t> bytes,
                                cudaStream_t stream) {
  const std::size_t here = bytes[static_cast<std::size_t>(rank_)];
  if (rank_ == 0 && here > 0) MOTES_CUDA(cudaMemcpyAsync(all, mine, here, cudaMemcpyDeviceToDevice, stream));
  if (size_ == 1) return;
  ++traffic_.calls;
  library().check(library().group_start(), "gather");
  if (rank_ > 0 && here > 0) {
    traffic_.bytes += static_cast<std::int64_t>(here);
    library().check(library().send(mine, here, ncclUint8, 0, nccl_->comm, stream), "gather");
  }
  auto* to = static_cast<char*>(all);
  for (int k = 1; rank_ == 0 && k < size_; ++k) {
    to += bytes[static_cast<std::size_t>(k) - 1];
    if (const std::size_t theirs = bytes[static_cast<std::size_t>(k)]; theirs > 0)
      library().check(library().receive(to, theirs, ncclUint8, k, nccl_->comm, stream), "gather");
  }
  library().check(library().group_end(), "gather");
}

}  // namespace motes::gpu
