#include "io/files/open_error.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <motes/base/errors.h>

namespace motes::io::detail {

void fail_to_open(const std::filesystem::path& path, std::string_view action, int error) {
  const std::string what = fmt::format("{}: cannot {}: {}", path.string(), action, std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
      throw InputError(what + "; check its permissions and those of its folder");
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      throw InputError(what + "; check the path");
    case EMFILE:
    case ENFILE:
      throw ResourceError(what + "; raise the limit (ulimit -n)");
    default:
      throw ResourceError(what + "; check the disk and the memory");
  }
}

}  // namespace motes::io::detail
