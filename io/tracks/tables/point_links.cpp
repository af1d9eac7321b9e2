/// Finds the rows of points and of their mothers by number.

#include "io/tracks/tables/point_links.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include <motes/base/errors.h>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

constexpr std::string_view kId = "id", kParent = "parent_id";

bool has(const std::vector<std::string>& header, std::string_view name) {
  return std::any_of(header.begin(), header.end(),
                     [&](const std::string& column) { return lower_case(column) == name; });
}

std::vector<PropertyColumn>::iterator find_property(PointColumns& columns, std::string_view name) {
  return std::find_if(columns.properties.begin(), columns.properties.end(),
                      [&](const PropertyColumn& column) { return lower_case(column.name) == name; });
}

/// The row of each number. Throws InputError for a number that is not whole or not unique.
std::unordered_map<double, std::size_t> rows_of(const std::vector<double>& id,
                                                const std::function<std::string(std::size_t)>& where) {
  std::unordered_map<double, std::size_t> rows;
  rows.reserve(id.size());
  for (std::size_t row = 0; row < id.size(); ++row) {
    if (!(std::abs(id[row]) < 0x1p53) || id[row] != std::floor(id[row]))
      throw InputError(where(row) +
                       ": column 'id' needs a whole number, since 'parent_id' names points by it");
    if (!rows.emplace(id[row], row).second)
      throw InputError(where(row) +
                       ": another point has this number in column 'id'; give each point its own");
  }
  return rows;
}

}  // namespace

bool has_point_links(const std::vector<std::string>& header) {
  return has(header, kId) && has(header, kParent);
}

std::optional<std::vector<std::pair<std::size_t, std::size_t>>> take_point_links(
    PointColumns& columns, const std::function<std::string(std::size_t row)>& where) {
  const auto id = find_property(columns, kId), parent = find_property(columns, kParent);
  if (id == columns.properties.end() || parent == columns.properties.end()) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> links;
  try {
    const auto rows = rows_of(id->values, where);
    const bool zero_is_point = rows.count(0) > 0;
    for (std::size_t row = 0; row < parent->values.size(); ++row) {
      const double mother = parent->values[row];
      if (std::isnan(mother) || mother == -1 || (mother == 0 && !zero_is_point)) continue;
      const auto found = rows.find(mother);
      if (found == rows.end())
        throw InputError(
            where(row) +
            ": column 'parent_id' names a point that is not in column 'id'; correct it, or empty the cell");
      links.emplace_back(found->second, row);
    }
  } catch (const InputError&) {
    if (!columns.track.empty()) return std::nullopt;
    throw;
  }
  std::erase_if(columns.properties, [](const PropertyColumn& column) {
    const std::string name = lower_case(column.name);
    return name == kId || name == kParent;
  });
  return links;
}

}  // namespace motes::io::detail
