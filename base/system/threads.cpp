/// Trial threads, and the limits of the system.

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <motes/base/system/threads.h>

namespace motes::system {

int threads_within_memory_limit() {
  constexpr rlim_t kOfThread = rlim_t{1} << 30;
  rlim_t least = RLIM_INFINITY;
  for (const auto what : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (getrlimit(what, &limit) == 0) least = std::min(least, limit.rlim_cur);
  }
  if (least == RLIM_INFINITY) return std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp<rlim_t>(least / kOfThread, 1, std::numeric_limits<int>::max()));
}

int online_processors() { return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)); }

int startable_threads(int wanted) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::vector<std::thread> threads;
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
  };
  try {
    threads.reserve(static_cast<std::size_t>(wanted > 0 ? wanted : 0));
    while (static_cast<int>(threads.size()) + 1 < wanted) threads.emplace_back(wait);
  } catch (const std::system_error&) {
    // The system's limit is reached; the threads started so far are the result.
  } catch (const std::bad_alloc&) {
    // The same if memory is exhausted.
  }
  {
    const std::scoped_lock lock(mutex);
    done = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

}  // namespace motes::system
