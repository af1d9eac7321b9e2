#pragma once
/// Vectors of four numbers, for loops that the compiler does not vectorise by itself. For use in functions
/// with MOTES_CLONES: the functions here are inlined there and so compiled for each instruction set.

#include <cstddef>
#include <cstdint>

#define MOTES_INLINE inline __attribute__((always_inline))

namespace motes {

inline constexpr std::size_t kLanes = 4;
using Doubles = double __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));
using Integers = std::int64_t __attribute__((vector_size(8 * kLanes), aligned(8), may_alias));

template <class Vector, class T>
MOTES_INLINE Vector& lanes(T* at) {
  return *reinterpret_cast<Vector*>(at);
}
template <class Vector, class T>
MOTES_INLINE const Vector& lanes(const T* at) {
  return *reinterpret_cast<const Vector*>(at);
}

/// Whether a comparison is true in any lane.
MOTES_INLINE bool any(const Integers& mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

}  // namespace motes
