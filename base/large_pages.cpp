#include <motes/base/large_pages.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

#include <motes/base/parallel_for.h>

namespace motes {

void advise_large_pages(void* begin, std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage,
                       last = (address + bytes) / kPage * kPage;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  (void)begin;
  (void)bytes;
#endif
}

void run_side_by_side(const Execution& execution, const std::vector<std::function<void()>>& jobs) {
  parallel_for(thread_count(execution), static_cast<std::int64_t>(jobs.size()),
               [&](std::int64_t job) { jobs[static_cast<std::size_t>(job)](); });
}

}  // namespace motes
