#pragma once
/// A barrier for the threads of a parallel region, cheaper than the end of one parallel loop and the start of
/// the next.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace motes {

/// Tells the core that this thread spins.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// A barrier at which threads exchange messages. Each thread has a slot of its own, one cache line, where it
/// leaves its message; every thread reads all slots, so that all know the same and draw the same conclusions.
/// No slot has two writers: the last arrival is seen by all after one cache-line transfer. A thread that
/// waits long sleeps, since there may be fewer cores than threads.
///
/// Memory order. What a thread wrote before it arrived may be read by all after the barrier (its round is
/// released and acquired). Its message alternates between two places: a place is used again at the next but
/// one barrier, when all have passed the next one and so have read it. Rounds are stored sequentially
/// consistent (seq_cst), so that notify_all cannot miss a thread that is about to sleep.
///
/// `Message` is a small struct.
template <class Message>
class ThreadBarrier {
 public:
  explicit ThreadBarrier(std::size_t most_threads) : slots_(most_threads) {}

  /// Calls receive(thread, message) for all `threads`, 0 to threads - 1, this one too, and returns when all
  /// have arrived.
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
