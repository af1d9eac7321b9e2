#pragma once
/// The columns of a point table as values: positions, frames, times, identities and properties.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/tracking/properties.h>

namespace motes::io::detail {

/// A parsed table, with rows in the order of the file.
struct PointColumns {
  std::vector<std::int32_t> frame;
  std::vector<double> x, y, z;
  std::vector<double> time_s;  ///< empty: no such column, or not numeric
  std::string time_name;
  std::vector<std::optional<std::int64_t>> track;  ///< empty unless requested and present
  std::vector<std::int64_t> parent, merged_into;   ///< empty unless requested and present
  std::vector<PropertyColumn> properties;          ///< the numeric ones
  std::vector<std::int64_t> line;                  ///< line number of each row
  std::vector<std::string> identity_names;         ///< identity columns of the header
  bool micrometres = false;                        ///< whether the table states the unit of lengths
  bool pixels = false;                             ///< whether the table states that lengths are in pixels
  std::vector<std::string> notes;

  std::size_t size() const { return frame.size(); }
};

/// Reads a table; with `identities` also its track column (then required, unless points name their
/// mothers: point_links.h) and the columns of mothers and merged tracks. Lengths are in um if the table
/// states their unit. Throws InputError (file:line) as tables.h lists.
PointColumns read_point_columns(const std::filesystem::path& path, const TableOptions& options,
                                bool identities);

}  // namespace motes::io::detail
