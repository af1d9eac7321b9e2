#include <cstdio>

#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/memory.h>

namespace motes {

void require_memory(double bytes, const std::string& what) {
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bytes <= there || there <= 0) return;
  char sizes[96];
  std::snprintf(sizes, sizeof sizes, " needs %.1f GiB of memory, and this machine has %.1f", bytes / 0x1p30,
                there / 0x1p30);
  throw ResourceError(what + sizes + "; use fewer, or costs that are sparse or matrix-free");
}

}  // namespace motes
