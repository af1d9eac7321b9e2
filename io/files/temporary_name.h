#pragma once
/// Names of temporary files and folders: ".STEM.tmp-DIGITS.EXT", beside their target. The digits, in
/// hexadecimal, are 16 that cannot be foreseen and 16 that name the process.

#include <string>

namespace motes::io::detail {

/// `extension` with its point, or empty.
std::string temporary_name(const std::string& stem, const std::string& extension);

/// What a name of this form is that of.
struct TemporaryOf {
  std::string stem;   ///< empty where the name has another form
  bool left = false;  ///< its process has ended; false where that cannot be known
};
TemporaryOf read_temporary_name(const std::string& name);

}  // namespace motes::io::detail
