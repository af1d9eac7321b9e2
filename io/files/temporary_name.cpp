/// Makes and recognises the names of temporary files.

#include "io/files/temporary_name.h"

#include <string_view>

#include <motes/base/system/files.h>

namespace motes::io::detail {
namespace {

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kRandomDigits = 16;

}  // namespace

std::string temporary_name(const std::string& stem, const std::string& extension) {
  return "." + stem + std::string(kMark) + system::random_digits() + extension;
}

std::string stem_of_temporary(const std::string& name) {
  const std::size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == std::string::npos || mark < 2) return {};
  const std::string rest = name.substr(mark + kMark.size());
  if (rest.size() < kRandomDigits || rest.find_first_not_of("0123456789abcdef") < kRandomDigits) return {};
  if (rest.size() > kRandomDigits && rest[kRandomDigits] != '.') return {};
  return name.substr(1, mark - 1);
}

}  // namespace motes::io::detail
