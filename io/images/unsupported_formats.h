#pragma once
/// What users do with files that motes does not read.

#include <string_view>

namespace motes::io::detail {

/// "save them as ...", by the extension in lower case (".png"); empty for unknown ones.
std::string_view what_to_do(std::string_view extension);

/// The kind of file that such an extension promises, such as TIFF; empty for others.
std::string_view content_of(std::string_view extension);

}  // namespace motes::io::detail
