/// Compares sizes with the machine's memory.

#include <cstdio>

#include <motes/base/errors.h>
#include <motes/base/memory.h>
#include <motes/base/system/memory.h>

namespace motes {

void require_memory(double bytes, const std::string& what) {
  const auto there = static_cast<double>(system::physical_memory());
  if (bytes <= there || there <= 0) return;
  char sizes[96];
  std::snprintf(sizes, sizeof sizes, " needs %.1f GiB of memory, and this machine has %.1f", bytes / 0x1p30,
                there / 0x1p30);
  throw ResourceError(what + sizes + "; use fewer, or costs that are sparse or matrix-free");
}

}  // namespace motes
