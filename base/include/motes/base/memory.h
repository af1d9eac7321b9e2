#pragma once
/// Rejects problems that cannot fit into memory before they are allocated.

#include <string>

namespace motes {

/// Throws ResourceError, "WHAT needs 33.5 GiB of memory, and this machine has 23.4; ...", if that is more
/// than the machine's memory. `bytes` is a double since sizes come from users and may exceed 64 bits.
void require_memory(double bytes, const std::string& what);

}  // namespace motes
