#pragma once
/// The first line of rapidSTORM's tables, an XML comment that names the columns.

#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// The columns in such a line, as "frame", "x [nanometer]" or rapidSTORM's own name; empty for any other
/// line.
std::vector<std::string> rapidstorm_columns(std::string_view line);

}  // namespace motes::io::detail
