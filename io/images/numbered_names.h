#pragma once
/// Numbered file names.

#include <filesystem>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// Order of names in which runs of digits compare as numbers: t2 before t10.
bool natural_less(std::string_view a, std::string_view b);

/// Checks that the names (in natural order) differ in one number only, and that this number goes up by equal
/// steps. Throws InputError naming the files, and the number that is missing.
void check_numbered(const std::vector<std::filesystem::path>& files);

}  // namespace motes::io::detail
