#pragma once
/// A meeting of threads that is over in less time than a parallel loop takes to begin.

#include <atomic>

namespace motes::matching::detail {

/// Tells the core that it waits for another one's word.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Where the threads of a parallel region meet again and again. Who waits long goes to sleep: there may be
/// fewer cores than threads.
///
/// Memory order. Each thread's arrival is seen by the last (arrived_, acquire and release), whose round is
/// seen by all (round_): what was written before a meeting, or in its `between`, is read after it.
class SpinBarrier {
 public:
  /// Returns when all `threads` have come; the last of them calls between(), which must not throw, before.
  template <class Between>
  void meet(int threads, const Between& between) {
    constexpr int kLooks = 2000;
    const int round = round_.load(std::memory_order_relaxed);  // no new one before this thread has come
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      between();
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    for (int looks = 0; looks < kLooks; ++looks) {
      if (round_.load(std::memory_order_acquire) != round) return;
      pause_core();
    }
    while (round_.load(std::memory_order_acquire) == round) round_.wait(round, std::memory_order_acquire);
  }

 private:
  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<int> round_ = 0;
};

}  // namespace motes::matching::detail
