#pragma once
/// Sizes that cannot fit, told before the system tries.

#include <string>

namespace motes {

/// Throws ResourceError, "WHAT needs 33.5 GiB of memory, and this machine has 23.4", where that many bytes
/// are more than the machine's memory. A double, since sizes come from users and may pass 64 bits.
void require_memory(double bytes, const std::string& what);

}  // namespace motes
