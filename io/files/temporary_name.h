#pragma once
/// Names of temporary files and folders: ".STEM.tmp-DIGITS.EXT", beside their target. The digits are
/// hexadecimal: 16 random ones, then 16 that identify the process.

#include <string>

namespace motes::io::detail {

/// `extension` includes its dot, or is empty.
std::string temporary_name(const std::string& stem, const std::string& extension);

/// The parts of a name of this form.
struct TemporaryOf {
  std::string stem;   ///< empty if the name has another form
  bool left = false;  ///< its process has ended; false if unknown
};
TemporaryOf read_temporary_name(const std::string& name);

}  // namespace motes::io::detail
