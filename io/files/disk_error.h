#pragma once
/// The error of an output file that cannot be written.

#include <cstring>
#include <filesystem>
#include <string>

#include <motes/base/errors.h>

namespace motes::io::detail {

/// Throws ResourceError: the path, what failed, and the system's reason (`error` is its number).
[[noreturn]] inline void fail_on_disk(const std::filesystem::path& path, const std::string& doing,
                                      int error) {
  throw ResourceError(path.string() + ": " + doing + ": " + std::strerror(error) +
                      "; check permissions and free space, or choose another output");
}

}  // namespace motes::io::detail
