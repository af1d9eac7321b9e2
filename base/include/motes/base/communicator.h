#pragma once
/// Communication between ranks that solve one problem together, each with a part of it in its own memory.
///
/// The design follows Date & Nagi 2016, section 5, with collective operations (all-reduce, all-gather,
/// broadcast, exchange, and agreement on errors):
///
/// - Every rank runs the same code and makes the same calls in the same order. Data of the size of the matrix
/// is
///   distributed (block_of). Data of the size of its sides (duals, partners, trees) is replicated: every rank
///   computes it from gathered lists. The paper instead gathers at a root, which broadcasts the result.
/// - Lists are gathered in rank order, and minima and sums are computed in integers. So every number of ranks
///   gives the same bits, which are those of the solver on one rank.
/// - Errors: an operation that may fail on a single rank (reading, allocating, writing) runs inside agreed(),
///   which throws the same error on every rank. Any other error ends all ranks (abort). So no rank waits for
///   one that has ended.
///
/// There are three implementations: a single rank; threads of this process (run_as_threads, for tests without
/// MPI); processes started by mpirun or srun (world). On GPUs, lists are sent from device to device by NCCL
/// (gpu/device_communicator.cuh), and this communicator transfers only what the hosts need.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/timer.h>

namespace motes {

/// The elements of a rank: [first, first + count).
struct Block {
  Index first = 0, count = 0;
};
/// The block of `rank` when n elements are distributed over `size` ranks. Blocks are contiguous and in rank
/// order; the first n % size of them have one element more than the others. With fewer elements than ranks
/// some are empty.
Block block_of(Index n, int rank, int size);

enum class Reduction { min, max, sum };

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Replaces values[k] by the minimum, maximum or sum of all ranks' values[k]. Sizes must be equal.
  void all_reduce(std::span<std::int64_t> values, Reduction how);
  std::int64_t all_reduce(std::int64_t value, Reduction how) {
    all_reduce({&value, 1}, how);
    return value;
  }

  /// Concatenates the values of all ranks in rank order. Sizes may differ.
  template <class T>
  void all_gather(std::span<const T> mine, std::vector<T>& all) {
    static_assert(std::is_trivially_copyable_v<T>);
    gather(mine.data(), mine.size_bytes());
    all.resize(gathered_.size() / sizeof(T));
    if (!all.empty()) std::memcpy(all.data(), gathered_.data(), gathered_.size());
  }
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) {
    std::vector<T> all;
    all_gather(mine, all);
    return all;
  }

  /// Sends list to[k] to rank k, for every k, and puts the lists that all ranks sent here into `from`, in
  /// rank order. to.size() must be size(). Returns the sum of all ranks' `value`, which needs no message of
  /// its own: with the number of sent elements, every rank learns whether any rank sent something.
  template <class T>
  std::int64_t exchange(std::span<const std::vector<T>> to, std::vector<T>& from, std::int64_t value = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::span<const std::byte>> lists;
    for (const auto& list : to) lists.push_back(std::as_bytes(std::span(list)));
    return exchange_bytes(lists, value, [&](std::size_t bytes) {
      from.resize(bytes / sizeof(T));
      return reinterpret_cast<std::byte*>(from.data());
    });
  }

  /// Copies the values of `root` to every rank. Sizes must be equal (those of texts may differ).
  template <class T>
  void broadcast(std::span<T> values, int root = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (size_ > 1 && !values.empty())
      counted(rank_ == root ? values.size_bytes() : 0,
              [&] { do_broadcast(values.data(), values.size_bytes(), root); });
  }
  void broadcast(std::string& text, int root = 0);

  /// Calls use(rank, bytes) on rank 0 with the bytes of every rank, its own included, one rank after
  /// another. Only one other rank's bytes are in memory at a time. The other ranks return once their bytes
  /// are sent. If use() throws, it is not called again, and rank 0 rethrows once the bytes of all ranks
  /// have arrived.
  void collect(std::string_view mine, const std::function<void(int, std::string_view)>& use);

  /// A barrier that sleeps while it waits, which leaves the cores to other ranks.
  void rest();

  /// Ends every rank at once with this exit code: for errors of a single rank.
  [[noreturn]] virtual void abort(int code) = 0;

  /// Runs body() on every rank. If it throws on any, every rank throws the error of the lowest such rank
  /// (Error with its code, std::invalid_argument, std::bad_alloc; others as ResourceError). The message
  /// names a rank above 0.
  void agreed(const std::function<void()>& body);
  /// Whether agreed() has thrown, so that all ranks know of the error.
  bool has_agreed_error() const { return agreed_error_; }

  /// Communication of this rank since it began.
  struct Traffic {
    std::int64_t calls = 0;  ///< collective operations
    std::int64_t bytes = 0;  ///< that this rank sent in them
    double seconds = 0;      ///< spent in them, including waiting for other ranks
  };
  Traffic traffic() const { return traffic_; }

  /// Keeps the device counterpart (gpu/device_communicator.cuh) alive as long as this communicator.
  void attach(std::shared_ptr<void> counterpart) { attachment_ = std::move(counterpart); }
  const std::shared_ptr<void>& attachment() const { return attachment_; }

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual void do_all_reduce(std::int64_t* values, std::size_t count, Reduction how) = 0;
  /// Stores the bytes of all ranks in `all`, rank by rank.
  virtual void do_all_gather(const void* mine, std::size_t bytes, std::vector<std::byte>& all) = 0;
  virtual void do_broadcast(void* values, std::size_t bytes, int root) = 0;
  /// room(bytes) returns the memory for all bytes sent here, rank by rank; it is called once.
  virtual std::int64_t do_exchange(std::span<const std::span<const std::byte>> to, std::int64_t value,
                                   const std::function<std::byte*(std::size_t)>& room) = 0;
  virtual void do_collect(std::string_view mine, const std::function<void(int, std::string_view)>& use) = 0;
  virtual void do_rest() = 0;

 private:
  void gather(const void* mine, std::size_t bytes);
  std::int64_t exchange_bytes(std::span<const std::span<const std::byte>> to, std::int64_t value,
                              const std::function<std::byte*(std::size_t)>& room);
  template <class Operation>
  void counted(std::size_t bytes, const Operation& operation) {
    const auto start = std::chrono::steady_clock::now();
    operation();
    ++traffic_.calls;
    traffic_.bytes += static_cast<std::int64_t>(bytes);
    traffic_.seconds += seconds_since(start);
  }

  int rank_, size_;
  bool agreed_error_ = false;
  Traffic traffic_;
  std::vector<std::byte> gathered_;
  std::shared_ptr<void> attachment_;
};

/// A communicator of a single rank.
std::unique_ptr<Communicator> single_rank();

/// Runs body(communicator) on `ranks` threads. If a rank throws, the others stop waiting for it; the error
/// of the lowest rank with an error of its own is rethrown.
void run_as_threads(int ranks, const std::function<void(Communicator&)>& body);

/// This process's place among the ranks, as the launcher (mpirun, mpiexec, srun) set it in the environment.
struct Launched {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among the ranks on this machine
};
/// Reads the environment; does not load MPI.
Launched launched();

/// The ranks that the launcher started. The first call loads and initialises MPI if launched() reports more
/// than one rank; otherwise this is a single rank. Throws ResourceError if this build or machine has no
/// MPI.
Communicator& world();
/// Finalises MPI if it was initialised. Call it on every rank before the process ends.
void leave_world();

}  // namespace motes
