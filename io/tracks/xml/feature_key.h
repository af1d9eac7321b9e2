#pragma once
/// Converts names of properties to names of TrackMate's features, which are XML attributes.

#include <cctype>
#include <string>
#include <string_view>

namespace motes::io::detail {

/// Letters, digits and _, not starting with a digit: "Mean Ch1" becomes "Mean_Ch1".
inline std::string feature_key(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    key += plain ? c : '_';
  }
  if (key.empty() || std::isdigit(static_cast<unsigned char>(key[0])) != 0) key.insert(0, "_");
  return key;
}

}  // namespace motes::io::detail
