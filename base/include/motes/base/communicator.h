#pragma once
/// Ranks that solve one problem together, each with its share of it in memory of its own.
///
/// The design, after Date & Nagi 2016, section 5, in terms of four collective operations (all-reduce,
/// all-gather, broadcast, and agreement on errors):
///
/// - Every rank runs the same code and makes the same calls in the same order. What is of the size of the
///   matrix is dealt out (block_of); what is of the size of its sides (duals, partners, trees) every rank
///   has, and computes for itself from gathered lists. So there is no root that the others wait for: the
///   paper gathers at a root and broadcasts what it made of that; here an all-gather replaces both.
/// - Lists are gathered rank by rank, minima and sums are formed in integers: every number of ranks gives
///   the same bits, and they are the bits of the solver on one rank.
/// - Errors: what may fail on one rank alone (reading, memory, writing) runs inside agreed(), which throws
///   the same error on every rank. What fails anywhere else ends all ranks (abort). No rank waits for one
///   that has gone.
///
/// Three forms: one rank alone; threads of this process (run_as_threads: tests, no MPI needed); processes
/// that mpirun or srun started (world). On GPUs the lists travel from device to device by NCCL
/// (gpu/device_communicator.cuh), and this communicator carries only what the hosts must know.

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

/// The share of a rank: [first, first + count).
struct Block {
  Index first = 0, count = 0;
};
/// Of n elements over `size` ranks: contiguous, in rank order, the first n % size ranks one more than the
/// others. With fewer elements than ranks some have none.
Block block_of(Index n, int rank, int size);

enum class Reduction { min, max, sum };

class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// values[k] becomes the least, greatest or sum of all ranks' values[k]; as many on every rank.
  void all_reduce(std::span<std::int64_t> values, Reduction how);
  std::int64_t all_reduce(std::int64_t value, Reduction how) {
    all_reduce({&value, 1}, how);
    return value;
  }

  /// All ranks' values, rank by rank; each may give a different number.
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

  /// `root`'s values on every rank; as many on every rank.
  template <class T>
  void broadcast(std::span<T> values, int root = 0) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (size_ > 1 && !values.empty())
      counted(rank_ == root ? values.size_bytes() : 0,
              [&] { do_broadcast(values.data(), values.size_bytes(), root); });
  }
  void broadcast(std::string& text, int root = 0);

  /// On rank 0, use(rank, bytes) gets the bytes of every rank, one rank after the other, its own too; its
  /// memory holds those of one other rank at a time. The other ranks return when their bytes have gone. What
  /// use() throws is thrown on rank 0 when all ranks' bytes have come, and use() is not called again.
  void collect(std::string_view mine, const std::function<void(int, std::string_view)>& use);

  /// Returns when all ranks are here. Sleeps until then: the cores are the other ranks'.
  void rest();

  /// Ends every rank with this exit code, now: for errors that this rank met alone.
  [[noreturn]] virtual void abort(int code) = 0;

  /// Runs body() on every rank. If it threw anywhere, throws on every rank what the lowest such rank threw
  /// (Error with its code, std::invalid_argument, std::bad_alloc; anything else as ResourceError); a rank
  /// above 0 is named in the message.
  void agreed(const std::function<void()>& body);
  /// The error under way came from agreed(), so that all ranks have it.
  bool has_agreed_error() const { return agreed_error_; }

  /// What this rank has sent and how often all ranks met, since it began.
  struct Traffic {
    std::int64_t calls = 0;  ///< collective operations
    std::int64_t bytes = 0;  ///< given to them by this rank
    double seconds = 0;      ///< in them, waiting for other ranks included
  };
  Traffic traffic() const { return traffic_; }

  /// Kept as long as this communicator: its counterpart on the devices (gpu/device_communicator.cuh).
  void attach(std::shared_ptr<void> counterpart) { attachment_ = std::move(counterpart); }
  const std::shared_ptr<void>& attachment() const { return attachment_; }

 protected:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual void do_all_reduce(std::int64_t* values, std::size_t count, Reduction how) = 0;
  /// All ranks' bytes, rank by rank, into `all`.
  virtual void do_all_gather(const void* mine, std::size_t bytes, std::vector<std::byte>& all) = 0;
  virtual void do_broadcast(void* values, std::size_t bytes, int root) = 0;
  virtual void do_collect(std::string_view mine, const std::function<void(int, std::string_view)>& use) = 0;
  virtual void do_rest() = 0;

 private:
  void gather(const void* mine, std::size_t bytes);
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

/// One rank alone.
std::unique_ptr<Communicator> single_rank();

/// body(communicator) on `ranks` threads. Rethrows what the lowest rank threw that did not just hear of
/// another's failure; no thread is left waiting.
void run_as_threads(int ranks, const std::function<void(Communicator&)>& body);

/// What a launcher (mpirun, mpiexec, srun) told this process in its environment; asks no library.
struct Launched {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among the ranks of this machine
};
Launched launched();

/// The ranks that this process was started with. MPI is loaded and initialised at the first call, and only
/// where launched() tells of more ranks than one; else it is one rank alone. Throws ResourceError where this
/// build or machine has no MPI.
Communicator& world();
/// Before the process ends, on every rank: leaves MPI if it was entered.
void leave_world();

}  // namespace motes
