#pragma once
/// A barrier for the threads of a parallel region that also exchanges messages. It is cheaper than ending
/// one parallel loop and starting another.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace motes {

/// Tells the core that this thread is spinning.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A barrier at which threads exchange messages. Each thread writes its message into its own slot, a cache
/// line of its own, and reads the slots of all threads, so that all have the same information and reach the
/// same decisions. Every slot has one writer, so the last arrival is visible to all after one cache-line
/// transfer. A thread that waits long sleeps, since there may be fewer cores than threads.
///
/// Memory order: what a thread wrote before it arrived is visible to all after the barrier (rounds are
/// stored with release and loaded with acquire semantics). A slot holds two messages, used alternately: one
/// is overwritten two barriers later, when all threads have passed the barrier in between and so have read
/// it. Rounds are stored with seq_cst, so that notify_all cannot miss a thread that is about to sleep.
///
/// `Message` is a small struct.
template <class Message>
class ThreadBarrier {
 public:
  explicit ThreadBarrier(std::size_t most_threads) : slots_(most_threads) {}

  /// Waits for threads 0 to threads - 1, and calls receive(thread, message) for the message of each,
  /// including its own.
  template <class Receive>
  void exchange(std::size_t thread, std::size_t threads, const Message& mine, const Receive& receive) {
    Slot& slot = slots_[thread];
    const std::uint32_t round = slot.round.load(std::memory_order_relaxed) + 1;
    slot.message[round % 2] = mine;
    slot.round.store(round, std::memory_order_seq_cst);
    slot.round.notify_all();
    const int looks = threads <= cores_ ? kLooks : 0;
    for (std::size_t k = 0; k < threads; ++k) {
      Slot& other = slots_[k];
      wait_until_left(other.round, round - 1, looks);
      receive(k, other.message[round % 2]);
    }
  }

 private:
  static constexpr int kLooks = 2000;
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> round = 0;
    Message message[2];
  };

  static void wait_until_left(std::atomic<std::uint32_t>& round, std::uint32_t before, int looks) {
    for (; looks > 0; --looks) {
      if (round.load(std::memory_order_acquire) != before) return;
      pause_core();
    }
    while (round.load(std::memory_order_acquire) == before) round.wait(before, std::memory_order_acquire);
  }

  std::vector<Slot> slots_;
  std::size_t cores_ = std::thread::hardware_concurrency();
};

}  // namespace motes
