/// Finds the numbers in file names, and which of them vary.

#include "io/images/folders/numbered_names.h"

#include <cctype>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/files/text.h"
#include "io/images/units.h"

namespace motes::io::detail {
namespace {

/// Takes the next run of digits, or of other characters, from the front.
std::string_view take_run(std::string_view& text) {
  std::size_t end = 1;
  while (end < text.size() && is_digit(text[end]) == is_digit(text[0])) ++end;
  const std::string_view run = text.substr(0, end);
  text.remove_prefix(end);
  return run;
}

std::string_view without_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

/// Negative, zero or positive if a sorts before, with or after b.
int compare_runs(std::string_view a, std::string_view b) {
  if (!is_digit(a[0]) || !is_digit(b[0])) return a.compare(b);
  a = without_zeros(a);
  b = without_zeros(b);
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

constexpr std::int64_t kNoNumber = -1;  // not digits, or too many for a number

struct NameParts {
  std::string skeleton;  ///< the name with '/', which no name has, for each number
  std::vector<std::int64_t> numbers;
};

NameParts split(const std::filesystem::path& file) {
  NameParts parts;
  const std::string name = file.filename().string();
  std::string_view rest = name;
  while (!rest.empty()) {
    const std::string_view run = take_run(rest);
    const std::int64_t number = is_digit(run[0]) ? parse_trimmed_integer(run).value_or(kNoNumber) : kNoNumber;
    parts.skeleton += number == kNoNumber ? run : "/";
    if (number != kNoNumber) parts.numbers.push_back(number);
  }
  return parts;
}

[[noreturn]] void refuse_folder(const std::filesystem::path& file, const std::string& what) {
  throw InputError(
      fmt::format("{}: {}; keep only the volumes of one series in the folder, or set input.axes for all "
                  "their pages in natural order",
                  file.parent_path().string(), what));
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (const int order = compare_runs(take_run(rest_a), take_run(rest_b)); order != 0) return order < 0;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // equal except for leading zeros
}

void check_numbered(const std::vector<std::filesystem::path>& files) {
  std::vector<NameParts> names;
  for (const auto& file : files) names.push_back(split(file));
  const NameParts& first = names.front();
  std::vector<std::size_t> counting;  // which of the numbers vary
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (names[i].skeleton != first.skeleton) {
      refuse_folder(files[i], fmt::format("'{}' and '{}' differ in more than a number",
                                          files[0].filename().string(), files[i].filename().string()));
    }
  }
  for (std::size_t n = 0; n < first.numbers.size(); ++n) {
    for (const NameParts& name : names) {
      if (name.numbers[n] == first.numbers[n]) continue;
      counting.push_back(n);
      break;
    }
  }
  if (counting.size() != 1) {
    refuse_folder(files[0], fmt::format("the names ('{}' ... '{}') count in {} places instead of one",
                                        files.front().filename().string(), files.back().filename().string(),
                                        counting.size()));
  }
  const std::size_t n = counting[0];
  for (std::size_t i = 2; i < names.size(); ++i) {
    const std::int64_t step = names[1].numbers[n] - first.numbers[n];
    const std::int64_t expected = names[i - 1].numbers[n] + step;
    if (names[i].numbers[n] == expected) continue;
    refuse_folder(files[i], fmt::format("number {} is missing: '{}' follows '{}'", expected,
                                        files[i].filename().string(), files[i - 1].filename().string()));
  }
}

}  // namespace motes::io::detail
