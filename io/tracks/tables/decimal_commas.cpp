/// Recognises fields with decimal commas and replaces the commas by points.

#include "io/tracks/tables/decimal_commas.h"

#include <string_view>

#include <motes/base/errors.h>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

struct Field {
  std::size_t begin, end;
};

/// The field around byte `at`, without blanks and quotes.
Field field_around(std::string_view text, std::size_t begin, std::size_t at, char delimiter) {
  const auto ends = [&](char c) { return c == delimiter || c == '\n' || c == '\r'; };
  const auto pads = [](char c) { return c == ' ' || c == '"'; };
  Field field{at, at};
  while (field.begin > begin && !ends(text[field.begin - 1])) --field.begin;
  while (field.end < text.size() && !ends(text[field.end])) ++field.end;
  while (field.begin < field.end && pads(text[field.begin])) ++field.begin;
  while (field.end > field.begin && pads(text[field.end - 1])) --field.end;
  return field;
}

/// A longer field is not a number.
constexpr std::size_t kLongestField = 64;

bool is_number_with(std::string_view field, char mark) {
  if (field.size() > kLongestField) return false;
  const std::size_t at = field.find(mark);
  if (at == std::string_view::npos || at + 1 >= field.size() || !is_digit(field[at + 1])) return false;
  std::string number(field);
  number[at] = '.';
  return parse_double(number).has_value();
}

/// Where to search for the next field after `at`, so that no field is examined twice.
std::size_t after(const Field& field, std::size_t at) { return field.end > at ? field.end : at + 1; }

}  // namespace

bool replace_decimal_commas(std::string& text, std::size_t begin, char delimiter, const std::string& path) {
  std::string example;
  for (std::size_t at = text.find(',', begin); at != std::string::npos;) {
    const Field field = field_around(text, begin, at, delimiter);
    const auto content = std::string_view(text).substr(field.begin, field.end - field.begin);
    if (content.find('.') == std::string_view::npos && is_number_with(content, ',')) {
      example = content;
      break;
    }
    at = text.find(',', after(field, at));
  }
  if (example.empty()) return false;
  for (std::size_t at = text.find('.', begin); at != std::string::npos;) {
    const Field field = field_around(text, begin, at, delimiter);
    const auto content = std::string_view(text).substr(field.begin, field.end - field.begin);
    if (is_number_with(content, '.')) {
      throw InputError(path + ": has numbers with a comma ('" + example + "') and with a point ('" +
                       std::string(content) + "'); write all with a point");
    }
    at = text.find('.', after(field, at));
  }
  for (std::size_t at = text.find(',', begin); at != std::string::npos;) {
    const Field field = field_around(text, begin, at, delimiter);
    if (is_number_with(std::string_view(text).substr(field.begin, field.end - field.begin), ','))
      text[at] = '.';
    at = text.find(',', after(field, at));
  }
  return true;
}

}  // namespace motes::io::detail
