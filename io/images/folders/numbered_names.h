#pragma once
/// Numbered file names.

#include <filesystem>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// The order of names in which runs of digits compare as numbers: t2 before t10.
bool natural_less(std::string_view a, std::string_view b);

/// Throws InputError unless the names (in natural order) differ in one number only, which increases by equal
/// steps. The message names the files, and a missing number.
void check_numbered(const std::vector<std::filesystem::path>& files);

}  // namespace motes::io::detail
