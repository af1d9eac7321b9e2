#pragma once
/// A checksum that detects accidental damage; it does not protect against manipulation.

#include <cstdint>
#include <string_view>

namespace motes {

inline constexpr std::uint64_t kFnvBasis = 14695981039346656037ULL;

/// FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923). Pass the hash of the preceding bytes as `hash` to
/// continue it.
constexpr std::uint64_t fnv1a64(std::string_view bytes, std::uint64_t hash = kFnvBasis) {
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

}  // namespace motes
