#pragma once
/// A meeting of threads that is over in less time than a parallel loop takes to begin.

#include <atomic>
#include <thread>

namespace motes::matching::detail {

/// Tells the core that it waits for another one's word.
inline void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Where the threads of a parallel region meet again and again. Who waits long gives up its core each time it
/// looks: there may be fewer cores than threads.
///
/// Memory order. Each thread's arrival is seen by the last (arrived_, acquire and release), whose round is
/// seen by all (round_): what was written before a meeting, or in its `between`, is read after it.
class SpinBarrier {
 public:
  /// Returns when all `threads` have come; the last of them calls between(), which must not throw, before.
  template <class Between>
  void meet(int threads, const Between& between) {
    constexpr int kLooks = 2000;
    const unsigned round = round_.load(std::memory_order_relaxed);  // no new one before this thread has come
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
      between();
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int looks = 0; round_.load(std::memory_order_acquire) == round; ++looks) {
      if (looks < kLooks)
        pause_core();
      else
        std::this_thread::yield();
    }
  }

 private:
  alignas(64) std::atomic<int> arrived_ = 0;
  alignas(64) std::atomic<unsigned> round_ = 0;
};

}  // namespace motes::matching::detail
