/// The number of threads, and its limit.

#include <algorithm>
#include <atomic>

#include <omp.h>

#include <motes/base/execution.h>
#include <motes/base/system/threads.h>

namespace motes {

namespace {

/// GCC's OpenMP library stores a word per started thread on the caller's stack, and overflows it.
constexpr int kMostThreads = 4096;

std::atomic<int> most_threads{kMostThreads};

}  // namespace

int thread_count(const Execution& execution) {
  const int wanted = execution.threads > 0 ? execution.threads : omp_get_num_procs();
  return std::max(1, std::min(wanted, most_threads.load()));
}

void system::limit_threads(int most) { most_threads.store(most); }

}  // namespace motes
