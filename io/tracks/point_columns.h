#pragma once
/// The columns of a point table as values: positions, frames, times, identities, properties.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/tracking/properties.h>

namespace motes::io::detail {

/// A parsed table, rows in the file's order.
struct PointColumns {
  std::vector<std::int32_t> frame;
  std::vector<double> x, y, z;
  std::vector<double> time_s;  ///< empty: no such column, or not numeric
  std::string time_name;
  std::vector<std::optional<std::int64_t>> track;  ///< empty unless asked for
  std::vector<std::int64_t> parent;                ///< empty unless asked for and there
  std::vector<PropertyColumn> properties;          ///< the numeric ones
  std::vector<std::int64_t> line;                  ///< of each row
  std::vector<std::string> identity_names;         ///< identity columns of the header
  bool micrometres = false;                        ///< the table states the lengths' unit
  bool pixels = false;                             ///< the table says that they are in pixels
  std::vector<std::string> notes;

  std::size_t size() const { return frame.size(); }
};

/// Reads a table; with `identities`, its track and parent columns too (then the track column is required).
/// Lengths whose unit the table states are in um. Throws InputError (file:line) for what tables.h names.
PointColumns read_point_columns(const std::filesystem::path& path, const TableOptions& options,
                                bool identities);

}  // namespace motes::io::detail
