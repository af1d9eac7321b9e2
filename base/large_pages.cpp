/// Hints for large pages, and jobs in parallel.

#include <cstdint>

#include <motes/base/large_pages.h>
#include <motes/base/parallel_for.h>
#include <motes/base/system/memory.h>

namespace motes {

void advise_large_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage,
                       last = (address + bytes) / kPage * kPage;
  if (last > first) system::ask_large_pages(reinterpret_cast<void*>(first), last - first);
}

void run_side_by_side(const Execution& execution, const std::vector<std::function<void()>>& jobs) {
  parallel_for(thread_count(execution), static_cast<std::int64_t>(jobs.size()),
               [&](std::int64_t job) { jobs[static_cast<std::size_t>(job)](); });
}

}  // namespace motes
