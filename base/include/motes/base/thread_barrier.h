#pragma once
/// Where the threads of a parallel region meet again and again, in less time than a parallel loop takes to
/// begin.

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace motes {

/// Tells the core that it waits for another one's word.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Each thread has a seat of its own, a line of memory, where it says what it brings; all read all seats, so
/// that everybody knows the same and comes to the same conclusions from it. Nobody writes what another one
/// writes: the last to come is seen by all in the time of one line's way. Who waits long goes to sleep: there
/// may be fewer cores than threads.
///
/// Memory order. What a thread wrote before it came is read after the meeting by all (its round: released and
/// acquired). What it said lies in one of two places by turns: it comes to its next but one meeting, where
/// the place is used again, after all have come to the next one, and so have read it. The rounds are stored
/// in the one order of all (seq_cst), lest notify_all misses who is about to sleep.
///
/// `Said` is a small struct.
template <class Said>
class Meeting {
 public:
  explicit Meeting(std::size_t most_threads) : seats_(most_threads) {}

  /// Calls hear(thread, said) for all `threads`, 0 to threads - 1, this one too, and returns when all have
  /// come.
  template <class Hear>
  void meet(std::size_t thread, std::size_t threads, const Said& mine, const Hear& hear) {
    Seat& seat = seats_[thread];
    const std::uint32_t round = seat.round.load(std::memory_order_relaxed) + 1;
    seat.said[round % 2] = mine;
    seat.round.store(round, std::memory_order_seq_cst);
    seat.round.notify_all();
    const int looks = threads <= cores_ ? kLooks : 0;
    for (std::size_t k = 0; k < threads; ++k) {
      Seat& other = seats_[k];
      wait_until_left(other.round, round - 1, looks);
      hear(k, other.said[round % 2]);
    }
  }

 private:
  static constexpr int kLooks = 2000;
  struct alignas(64) Seat {
    std::atomic<std::uint32_t> round = 0;
    Said said[2];
  };

  static void wait_until_left(std::atomic<std::uint32_t>& round, std::uint32_t before, int looks) {
    for (; looks > 0; --looks) {
      if (round.load(std::memory_order_acquire) != before) return;
      pause_core();
    }
    while (round.load(std::memory_order_acquire) == before) round.wait(before, std::memory_order_acquire);
  }

  std::vector<Seat> seats_;
  std::size_t cores_ = std::thread::hardware_concurrency();
};

}  // namespace motes
