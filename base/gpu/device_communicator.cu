/// Collective operations through NCCL, which is loaded when it is first used.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <nccl.h>

#include <motes/base/errors.h>
#include <motes/base/gpu/check.cuh>
#include <motes/base/gpu/device_communicator.cuh>
#include <motes/base/gpu/resources.cuh>
#include <motes/base/system/program.h>
#include <motes/base/system/shared_library.h>

namespace motes::gpu {
namespace {

/// The functions of libnccl.so.2 used here, loaded when a rank first needs them, so that motes starts
/// without NCCL.
struct Library {
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config;
  decltype(&ncclCommSplit) comm_split;
  decltype(&ncclCommGetAsyncError) comm_get_async_error;
  decltype(&ncclCommAbort) comm_abort;
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
      if (function == nullptr)
        throw ResourceError(std::string("NCCL has no ") + name + "; install NCCL 2.18 or later");
    };
    find(get_unique_id, "ncclGetUniqueId");
    find(comm_init_rank_config, "ncclCommInitRankConfig");
    find(comm_split, "ncclCommSplit");
    find(comm_get_async_error, "ncclCommGetAsyncError");
    find(comm_abort, "ncclCommAbort");
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

/// Free bytes of the current device.
std::size_t free_memory() {
  std::size_t free_bytes = 0, total = 0;
  require(cudaMemGetInfo(&free_bytes, &total), "asking for its memory");
  return free_bytes;
}

}  // namespace

/// Two connections of the same ranks, which share their memory. The first does not block: while a rank waits
/// for others to connect, it can learn that one of them has failed. It starts a host thread for every
/// operation (60 us), so all operations go through the second, which blocks.
struct DeviceCommunicator::Nccl {
  ncclComm_t first = nullptr, comm = nullptr;
  bool connected = false;

  Nccl(int size, const ncclUniqueId& id, int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    state_ = library().comm_init_rank_config(&first, size, id, rank, &config);
  }
  ~Nccl() {
    for (const ncclComm_t one : {comm, first})
      if (one != nullptr) connected ? library().comm_destroy(one) : library().comm_abort(one);
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  /// Begins the second connection; the first must be complete.
  void connect_again(int rank) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    config.splitShare = 1;
    state_ = library().comm_split(first, 0, rank, &comm, &config);
  }
  /// ncclInProgress until the connection begun last is complete.
  ncclResult_t state() {
    if (first == nullptr || (state_ != ncclSuccess && state_ != ncclInProgress)) return state_;
    state_ = ncclSuccess;
    for (const ncclComm_t one : {first, comm}) {
      if (one == nullptr || state_ != ncclSuccess) continue;
      ncclResult_t of_comm = ncclSuccess;
      const ncclResult_t asked = library().comm_get_async_error(one, &of_comm);
      state_ = asked == ncclSuccess ? of_comm : asked;
    }
    return state_;
  }

 private:
  ncclResult_t state_ = ncclSuccess;
};

DeviceCommunicator::DeviceCommunicator(Communicator& hosts, int device)
    : rank_(hosts.rank()), size_(hosts.size()), device_(device) {
  if (size_ == 1) return;
  const auto set = [](const char* name) {
    if (std::getenv(name) == nullptr) system::set_environment(name, "0");
  };
  set("NCCL_NVLS_ENABLE");      // no NVLink multicast
  set("NCCL_RUNTIME_CONNECT");  // allocate memory at start, not in the first operations
  ncclUniqueId id{};
  hosts.agreed([&] {
    library();
    if (rank_ == 0) library().check(library().get_unique_id(&id), "making an identifier");
  });
  hosts.broadcast(std::span(&id, 1));
  hosts.agreed([&] {
    free_bytes_ = free_memory();
    nccl_ = std::make_unique<Nccl>(size_, id, rank_);
  });
  wait_for_all(hosts);
  // On two H200 the first connection takes 930 MiB, and what follows 1050 to 1310. If that fails half-way,
  // NCCL ends the process or waits for ever.
  hosts.agreed([&] {
    const std::size_t left = free_memory(), taken = free_bytes_ - std::min(free_bytes_, left);
    if (left < taken / 2 * 3)
      refuse("it needs about " + std::to_string((taken / 2 * 5) >> 20) + " MiB of its memory");
  });
  nccl_->connect_again(rank_);
  wait_for_all(hosts);
  nccl_->connected = true;
  try {
    connect();
  } catch (const ResourceError& error) {
    refuse(error.what());
  }
}

void DeviceCommunicator::refuse(const std::string& why) const {
  throw ResourceError("NCCL cannot connect GPU " + std::to_string(device_) + ": " + why + "; " +
                      std::to_string(free_bytes_ >> 20) + " MiB were free");
}

void DeviceCommunicator::wait_for_all(Communicator& hosts) {
  enum State : std::int64_t { failed, waiting, done };
  State mine = waiting;
  for (std::int64_t all = waiting; all == waiting;) {
    const ncclResult_t state = nccl_->state();
    mine = state == ncclSuccess ? done : state == ncclInProgress ? waiting : failed;
    all = hosts.all_reduce(mine, Reduction::min);
    if (all == waiting) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  hosts.agreed([&] {
    if (mine == failed) refuse(library().get_error_string(nccl_->state()));
  });
}

void DeviceCommunicator::connect() {
  const auto sent = traffic_;
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  const auto size = static_cast<std::size_t>(size_);
  Stream stream;
  GrowingArray<char> mine(kBytes), all(size * kBytes);
  require(cudaMemsetAsync(mine.data(), 0, kBytes, stream), "clearing memory");
  all_gather(mine.data(), all.data(), kBytes, stream);
  all_reduce_min(reinterpret_cast<std::int64_t*>(mine.data()), kBytes / sizeof(std::int64_t), stream);
  broadcast(mine.data(), kBytes, 0, stream);
  gather(mine.data(), rank_ == 0 ? all.data() : nullptr, std::vector<std::size_t>(size, kBytes), stream);
  require(cudaStreamSynchronize(stream), "connecting the devices");
  traffic_ = sent;
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
