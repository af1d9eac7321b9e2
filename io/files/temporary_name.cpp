/// Makes and recognises the names of temporary files.

#include "io/files/temporary_name.h"

#include <algorithm>
#include <string_view>

#include <motes/base/system/files.h>
#include <motes/base/system/program.h>

namespace motes::io::detail {
namespace {

constexpr std::string_view kMark = ".tmp-";
constexpr std::size_t kRandomDigits = 16, kDigits = 32;

}  // namespace

std::string temporary_name(const std::string& stem, const std::string& extension) {
  return "." + stem + std::string(kMark) + system::random_digits() + system::process_mark() + extension;
}

TemporaryOf read_temporary_name(const std::string& name) {
  const std::size_t mark = name.rfind(kMark);
  if (!name.starts_with('.') || mark == std::string::npos || mark < 2) return {};
  const std::string rest = name.substr(mark + kMark.size());
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789abcdef"), rest.size());
  if (digits != kDigits && digits != kRandomDigits)
    return {};  // names of older versions have no process mark
  if (rest.size() > digits && rest[digits] != '.') return {};
  return {name.substr(1, mark - 1), digits == kDigits && system::has_ended(std::string_view(rest).substr(
                                                             kRandomDigits, kDigits - kRandomDigits))};
}

}  // namespace motes::io::detail
