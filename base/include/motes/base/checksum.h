#pragma once
/// A checksum against damage and mix-ups, not against malice.

#include <cstdint>
#include <string_view>

namespace motes {

inline constexpr std::uint64_t kFnvBasis = 14695981039346656037ULL;

/// FNV-1a, 64 bits (Fowler, Noll, Vo; RFC 9923). `hash`: of the bytes before, to go on from.
constexpr std::uint64_t fnv1a64(std::string_view bytes, std::uint64_t hash = kFnvBasis) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace motes
