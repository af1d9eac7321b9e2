#pragma once
/// Links of a table whose points name their mothers: columns `id` and `parent_id`.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/tracks/tables/point_columns.h"

namespace motes::io::detail {

/// Whether the header has both columns.
bool has_point_links(const std::vector<std::string>& header);

/// Removes both columns from the properties and returns the links (mother, point) between rows; none, and
/// nothing removed, if the columns are missing, `id` does not number the points or a mother is not in the
/// table. No mother: empty, -1, or 0 if no point has the number 0. If tracks are not known otherwise (no
/// column `track`), the latter two throw InputError that starts with where(row). O(rows) expected.
std::optional<std::vector<std::pair<std::size_t, std::size_t>>> take_point_links(
    PointColumns& columns, const std::function<std::string(std::size_t row)>& where);

}  // namespace motes::io::detail
