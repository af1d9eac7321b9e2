#pragma once
/// Names of temporary files: ".STEM.tmp-0123456789abcdef.EXT", beside their target.

#include <string>

namespace motes::io::detail {

/// `extension` with its point, or empty.
std::string temporary_name(const std::string& stem, const std::string& extension);

/// The stem, or empty where the name is not that of a temporary file.
std::string stem_of_temporary(const std::string& name);

}  // namespace motes::io::detail
