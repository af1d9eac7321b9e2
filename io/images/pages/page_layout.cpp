/// Completes the axes of a file and maps planes to pages.

#include "io/images/pages/page_layout.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/images/units.h"

namespace motes::io::detail {
namespace {

constexpr std::string_view kPageAxes = "TZC";

[[noreturn]] void bad_axes(std::string_view text, const std::string& why) {
  throw UsageError(
      fmt::format("input.axes: '{}': {}; give the pages' order slowest first, then YX, for instance "
                  "'TZCYX' or, with sizes, 'TZ10YX'",
                  text, why));
}

/// The axes as text, with the sizes that were given.
std::string given_text(const PageAxes& axes) {
  std::string text;
  for (const PageAxis& axis : axes) {
    text += axis.letter;
    if (axis.size != 0) text += std::to_string(axis.size);
  }
  return text + "YX";
}

std::int64_t size_of(const PageAxes& axes, char letter) {
  const auto found =
      std::find_if(axes.begin(), axes.end(), [&](const PageAxis& a) { return a.letter == letter; });
  return found == axes.end() ? 0 : found->size;
}

/// Sets the one open size so that the product is `pages`; false if that is not possible.
bool fill_last(PageAxes& axes, std::int64_t pages) {
  const auto open = [](const PageAxis& a) { return a.size == 0; };
  const auto count = std::count_if(axes.begin(), axes.end(), open);
  if (count > 1) return false;
  if (count == 1) {
    PageAxis& last = *std::find_if(axes.begin(), axes.end(), open);
    last.size = 1;
    const std::int64_t rest = page_count(axes).value_or(0);
    last.size = rest > 0 && pages % rest == 0 ? pages / rest : 0;
  }
  return page_count(axes) == pages;
}

}  // namespace

PageAxes parse_axes(std::string_view text) {
  PageAxes axes;
  std::string letters;
  for (std::size_t i = 0; i < text.size();) {
    const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(text[i++])));
    if (kPageAxes.find(letter) == std::string_view::npos && letter != 'Y' && letter != 'X')
      bad_axes(text, fmt::format("byte {} is not one of T, Z, C, Y, X", i));
    if (letters.find(letter) != std::string::npos) bad_axes(text, fmt::format("{} occurs twice", letter));
    letters += letter;
    const std::size_t begin = i;
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0) ++i;
    std::int64_t size = 0;
    if (i > begin) {
      if (letter == 'Y' || letter == 'X') bad_axes(text, "the sizes of Y and X are the page's own");
      size = parse_trimmed_integer(text.substr(begin, i - begin)).value_or(0);
      if (size <= 0) bad_axes(text, fmt::format("the size of {} is not a positive number", letter));
    }
    axes.push_back({letter, size});
  }
  if (!letters.ends_with("YX")) bad_axes(text, "it does not end in YX");
  axes.resize(axes.size() - 2);
  return axes;
}

std::string axes_text(const PageAxes& axes) {
  std::string text;
  for (const PageAxis& axis : axes) {
    if (axis.size != 1) text += axis.letter;
  }
  return text + "YX";
}

std::optional<std::int64_t> page_count(const PageAxes& axes) {
  std::int64_t product = 1;
  for (const PageAxis& axis : axes) {
    const auto next = checked_product({product, axis.size});
    if (!next || axis.size == 0) return std::nullopt;
    product = *next;
  }
  return product;
}

PageAxes complete_axes(PageAxes given, const PageAxes& known, const std::vector<std::int64_t>& leading_shape,
                       std::int64_t pages, const std::filesystem::path& source) {
  const std::string text = given_text(given);
  PageAxes by_letter = given;
  for (PageAxis& axis : by_letter) {
    if (axis.size == 0 && size_of(known, axis.letter) > 1) axis.size = size_of(known, axis.letter);
  }
  PageAxes by_position = given;
  for (std::size_t i = 0; i < given.size() && given.size() == leading_shape.size(); ++i) {
    if (by_position[i].size == 0) by_position[i].size = leading_shape[i];
  }
  for (PageAxes* candidate : {&by_letter, &by_position, &given}) {
    if (fill_last(*candidate, pages)) return *candidate;
  }
  throw UsageError(fmt::format(
      "input.axes: '{}' does not say how to divide {} of {}; give sizes that "
      "multiply to {}, for instance 'T{}Z1YX'",
      text, pages == 1 ? "one page" : fmt::format("the {} pages", pages), source.string(), pages, pages));
}

PageMap::PageMap(const PageAxes& axes) {
  std::int64_t stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const std::size_t slot = kPageAxes.find(axis->letter);
    size_[slot] = axis->size;
    stride_[slot] = stride;
    stride *= axis->size;
  }
}

PageMap::PageMap(const PageAxes& axes, std::vector<std::int64_t> table) : PageMap(axes) {
  table_ = std::move(table);
}

std::int64_t PageMap::page(std::int64_t t, std::int64_t z, std::int64_t c) const {
  if (!table_.empty()) return table_[static_cast<std::size_t>((t * size_[1] + z) * size_[2] + c)];
  return t * stride_[0] + z * stride_[1] + c * stride_[2];
}

PageMap PageMap::over_files(std::int64_t files, std::int64_t pages) const {
  PageMap map = *this;
  map.size_[0] = files;
  map.stride_[0] = pages;
  map.table_.clear();
  for (std::int64_t f = 0; f < files && !table_.empty(); ++f) {
    for (const std::int64_t page : table_) map.table_.push_back(f * pages + page);
  }
  return map;
}

}  // namespace motes::io::detail
