#pragma once
/// The position of a cell on Hilbert's curve in space. Consecutive cells on the curve are neighbours, so
/// runs of points sorted by it fill small boxes.
///
/// Source: Hamilton & Rau-Chaplin, "Compact Hilbert indices: space-filling curves for domains with unequal
/// side lengths", Information Processing Letters 105 (2008), section 2. On each level the cell's octant is
/// transformed into the frame of the curve there (entry corner `entry`, direction `direction`); its
/// position is the inverse Gray code, and the frame of that octant is the next one.

#include <cstdint>

#include <motes/base/host_device.h>

namespace motes::matching::device {

/// Bits of a cell's coordinate along each axis.
inline constexpr int kCurveBits = 21;

MOTES_HOST_DEVICE inline unsigned rotate_left(unsigned bits, unsigned by) {
  return ((bits << by) | (bits >> (3 - by))) & 7U;
}
MOTES_HOST_DEVICE inline unsigned rotate_right(unsigned bits, unsigned by) {
  return ((bits >> by) | (bits << (3 - by))) & 7U;
}

/// The place on the curve, below 2^63, of the cell (x, y, z); coordinates below 2^kCurveBits.
MOTES_HOST_DEVICE inline std::uint64_t curve_place(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  // By the octant's place w: the corner where the curve enters it, and the axis along which it leaves; both
  // in the parent's frame, three bits to a place.
  constexpr std::uint32_t kEntry =
      0U | (0U << 3) | (0U << 6) | (3U << 9) | (3U << 12) | (6U << 15) | (6U << 18) | (5U << 21);
  constexpr std::uint32_t kTurn =
      0U | (1U << 2) | (1U << 4) | (2U << 6) | (2U << 8) | (1U << 10) | (1U << 12) | (0U << 14);
  std::uint64_t place = 0;
  unsigned entry = 0, direction = 0;
  for (int level = kCurveBits - 1; level >= 0; --level) {
    const unsigned octant = ((x >> level) & 1U) | (((y >> level) & 1U) << 1) | (((z >> level) & 1U) << 2);
    const unsigned by = direction == 2 ? 0 : direction + 1;  // modulo 3
    const unsigned turned = rotate_right(octant ^ entry, by);
    const unsigned w = turned ^ (turned >> 1) ^ (turned >> 2);
    place = (place << 3) | w;
    entry ^= rotate_left((kEntry >> (3 * w)) & 7U, by);
    direction = (direction + ((kTurn >> (2 * w)) & 3U) + 1) % 3;
  }
  return place;
}

}  // namespace motes::matching::device
