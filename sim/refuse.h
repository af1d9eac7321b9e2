#pragma once
/// Errors for invalid options, each naming its key.

#include <sstream>
#include <string>

#include <motes/base/errors.h>
#include <motes/tracking/geometry.h>

namespace motes::sim::detail {

/// Limits options, so that products of a few of them do not overflow.
inline constexpr double kLargestOption = 1e12;

template <class Value>
[[noreturn]] void refuse(const char* key, Value value, const std::string& advice) {
  std::ostringstream message;
  message << key << ": " << value << " " << advice;
  throw UsageError(message.str());
}

inline void require_at_least_0(const char* key, double value) {
  if (!(value >= 0 && value <= kLargestOption))
    refuse(key, value, "is not a number from 0 to 1e12; give one");
}

inline void require_positive(const char* key, double value) {
  if (!(value > 0 && value <= kLargestOption))
    refuse(key, value, "is not a number above 0 (and up to 1e12); give one");
}

inline void require_positive(const char* key, const Vec3& value) {
  require_positive(key, value.z);
  require_positive(key, value.y);
  require_positive(key, value.x);
}

}  // namespace motes::sim::detail
