#pragma once
/// What users do with files that motes does not read.

#include <string_view>

namespace motes::io::detail {

/// "save them as ...", by the extension in lower case (".png"); empty for unknown ones.
std::string_view what_to_do(std::string_view extension);

}  // namespace motes::io::detail
