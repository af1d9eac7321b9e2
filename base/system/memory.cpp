/// Sizes and pages of memory, on Linux.

#include <cstdio>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <motes/base/system/memory.h>

namespace motes::system {

std::int64_t physical_memory() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

std::int64_t resident_memory() {
  static const int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[128]{};
  unsigned long long all = 0, resident = 0;
  if (pread(statm, text, sizeof text - 1, 0) <= 0 || std::sscanf(text, "%llu %llu", &all, &resident) != 2)
    return 0;
  return static_cast<std::int64_t>(resident) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

std::int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;  // Linux states KiB
}

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t block_size(void* block) { return malloc_usable_size(block); }

void ask_large_pages(void* begin, std::size_t bytes) { madvise(begin, bytes, MADV_HUGEPAGE); }

void drop_pages(void* begin, std::size_t bytes) {
  if (madvise(begin, bytes, MADV_REMOVE) != 0)  // for pages of files, whose contents are removed, too
    madvise(begin, bytes, MADV_DONTNEED);
}

void return_free_memory() { malloc_trim(0); }

}  // namespace motes::system
