#pragma once
/// The error for an output file that cannot be written.

#include <cstring>
#include <filesystem>
#include <string>

#include <motes/base/errors.h>

namespace motes::io::detail {

/// Throws ResourceError with the path, the failed step, and the system's reason. `error`: an errno value.
[[noreturn]] inline void fail_on_disk(const std::filesystem::path& path, const std::string& doing,
                                      int error) {
  throw ResourceError(path.string() + ": " + doing + ": " + std::strerror(error) +
                      "; check permissions and free space, or choose another output");
}

}  // namespace motes::io::detail
