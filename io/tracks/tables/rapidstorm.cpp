/// Reads the attributes of rapidSTORM's fields.

#include "io/tracks/tables/rapidstorm.h"

#include <algorithm>
#include <array>
#include <utility>

namespace motes::io::detail {
namespace {

/// The value of the attribute; empty if it is missing.
std::string_view attribute(std::string_view field, std::string_view name) {
  const std::string start = " " + std::string(name) + "=\"";
  const std::size_t begin = field.find(start);
  if (begin == std::string_view::npos) return {};
  field.remove_prefix(begin + start.size());
  return field.substr(0, field.find('"'));
}

std::string column_name(std::string_view field) {
  using Pair = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Pair, 3> kPositions{Pair{"Position-0-0", "x"}, Pair{"Position-1-0", "y"},
                                           Pair{"Position-2-0", "z"}};
  const std::string_view identifier = attribute(field, "identifier"), unit = attribute(field, "unit");
  if (identifier == "ImageNumber-0-0") return "frame";
  for (const auto& [known, name] : kPositions)
    if (identifier == known) return std::string(name) + (unit.empty() ? "" : " [" + std::string(unit) + "]");
  return std::string(identifier);
}

}  // namespace

std::vector<std::string> rapidstorm_columns(std::string_view line) {
  std::vector<std::string> names;
  if (!line.starts_with("# <localizations ")) return names;
  constexpr std::string_view kField = "<field ";
  for (std::size_t at = line.find(kField); at != std::string_view::npos;) {
    const std::size_t next = line.find(kField, at + 1);
    names.push_back(column_name(line.substr(at, std::min(next, line.size()) - at)));
    at = next;
  }
  return names;
}

}  // namespace motes::io::detail
