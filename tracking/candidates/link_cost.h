#pragma once
/// Grid positions, cells and costs of pairs of detections, shared by CPU and GPU. All are integers, so both
/// give the same bits.

#include <cstdint>

#include <motes/base/hash.h>
#include <motes/base/host_device.h>
#include <motes/matching/problem.h>
#include <motes/tracking/candidates.h>

namespace motes::tracking {

/// Positions are snapped to a grid of gate / 2^18, so that squared distances are exact integers, the same on
/// every machine.
inline constexpr int kGridBitsPerGate = 18;
/// The low bits of every cost are a hash of the two snapped positions (the tie rule), so that the choice
/// among equally cheap links does not depend on the order of the detections.
inline constexpr int kTieBits = 14;
/// The gate in grid steps.
inline constexpr std::int64_t kGateSteps = std::int64_t{1} << kGridBitsPerGate;
/// Positions farther from the origin cannot be snapped.
inline constexpr double kFarthestSteps = static_cast<double>(std::int64_t{1} << 30) * kGateSteps;

struct GridPoint {
  std::int64_t x, y, z;
};

/// Snaps a coordinate to the grid. False if it is not finite or too far out.
MOTES_HOST_DEVICE inline bool snap(double um, double steps_per_um, std::int64_t& out) {
  const double steps = um * steps_per_um;
  if (!(steps <= kFarthestSteps && steps >= -kFarthestSteps)) return false;
  out = static_cast<std::int64_t>(steps + (steps < 0 ? -0.5 : 0.5));
  return true;
}

MOTES_HOST_DEVICE inline std::uint64_t hash_of(const GridPoint& p) {
  const std::uint64_t x = splitmix64_finaliser(static_cast<std::uint64_t>(p.x));
  return splitmix64_finaliser(splitmix64_finaliser(x + static_cast<std::uint64_t>(p.y)) +
                              static_cast<std::uint64_t>(p.z));
}

/// The cost of a candidate. `root`: the correctly rounded square root of `squared`, used only by the
/// Euclidean cost. Scaling it by a power of two is exact; then it is truncated to whole steps.
MOTES_HOST_DEVICE inline matching::Cost candidate_cost(LinkCost kind, std::int64_t squared, double root,
                                                       std::uint64_t row_hash, std::uint64_t column_hash) {
  const matching::Cost steps = kind == LinkCost::squared
                                   ? squared
                                   : static_cast<matching::Cost>(root * static_cast<double>(kGateSteps));
  const std::uint64_t tie =
      splitmix64_finaliser(row_hash ^ ((column_hash << 32) | (column_hash >> 32))) >> (64 - kTieBits);
  return (steps << kTieBits) + static_cast<matching::Cost>(tie);
}

/// Maps the cells of a frame to the slots of a table about twice as long as the frame, so that outliers cost
/// nothing. Cells are one gate wide, or two if detections are sparse: with fewer than kSparsePerGateCube in a
/// cube of one gate, visiting fewer cells is faster. The number of a cell is its x plus multiples of its y
/// and z, so that cells along x are adjacent in memory.
struct CellTable {
  static constexpr double kSparsePerGateCube = 0.4;

  std::uint64_t mask = 63;  ///< slots - 1; slots are a power of two, at least 64
  std::uint64_t stride_y = 0, stride_z = 0;
  int shift = kGridBitsPerGate;

  /// For `count` points between low and high; the origin is between them, too.
  MOTES_HOST_DEVICE static CellTable of(std::int64_t count, const GridPoint& low, const GridPoint& high) {
    CellTable table;
    table.mask = slots_for(count) - 1;
    const double cubes = gates(low.x, high.x) * gates(low.y, high.y) * gates(low.z, high.z);
    if (static_cast<double>(count) < kSparsePerGateCube * cubes) ++table.shift;
    // Strides follow from the extent. It may be huge; products are modulo 2^64.
    table.stride_y = static_cast<std::uint64_t>(table.cell(high.x) - table.cell(low.x)) + 3;
    table.stride_z =
        table.stride_y * (static_cast<std::uint64_t>(table.cell(high.y) - table.cell(low.y)) + 3);
    return table;
  }
  MOTES_HOST_DEVICE static std::uint64_t slots_for(std::int64_t count) {
    std::uint64_t slots = 64;
    while (slots < 2 * static_cast<std::uint64_t>(count)) slots *= 2;
    return slots;
  }
  MOTES_HOST_DEVICE std::uint64_t slots() const { return mask + 1; }
  MOTES_HOST_DEVICE std::int64_t cell(std::int64_t steps) const { return steps >> shift; }
  MOTES_HOST_DEVICE std::uint64_t slot(std::int64_t cx, std::int64_t cy, std::int64_t cz) const {
    return (static_cast<std::uint64_t>(cx) + static_cast<std::uint64_t>(cy) * stride_y +
            static_cast<std::uint64_t>(cz) * stride_z) &
           mask;
  }
  MOTES_HOST_DEVICE std::uint64_t slot(const GridPoint& p) const {
    return slot(cell(p.x), cell(p.y), cell(p.z));
  }

 private:
  MOTES_HOST_DEVICE static double gates(std::int64_t from, std::int64_t to) {
    return static_cast<double>(to - from) / static_cast<double>(kGateSteps) + 1;
  }
};

/// A frame's points by slot; a view to pass by value.
struct SlottedPoints {
  const matching::Index* starts = nullptr;  ///< [slots + 1]
  const GridPoint* points = nullptr;        ///< [detections]
};

/// Calls visit(place, squared distance in grid steps) once for every point within the gate of p: in nine runs
/// of three slots (four of two, if cells are two gates wide). Points of other cells in a slot are excluded by
/// their positions.
template <class Visit>
MOTES_HOST_DEVICE inline void for_each_in_gate(const CellTable& table, const SlottedPoints& in,
                                               const GridPoint& p, const Visit& visit) {
  const std::int64_t x0 = table.cell(p.x - kGateSteps);
  const std::int64_t y0 = table.cell(p.y - kGateSteps), y1 = table.cell(p.y + kGateSteps);
  const std::int64_t z0 = table.cell(p.z - kGateSteps), z1 = table.cell(p.z + kGateSteps);
  const auto run = static_cast<std::uint64_t>(table.cell(p.x + kGateSteps) - x0) + 1;
  for (std::int64_t cz = z0; cz <= z1; ++cz) {
    for (std::int64_t cy = y0; cy <= y1; ++cy) {
      const auto scan = [&](std::uint64_t first_slot, std::uint64_t end_slot) {
        for (matching::Index k = in.starts[first_slot], end = in.starts[end_slot]; k < end; ++k) {
          const GridPoint q = in.points[k];
          const std::int64_t dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
          // One branch, not three; it also keeps the squares small.
          const auto beyond = [](std::int64_t d) -> int {
            return static_cast<std::uint64_t>(d + kGateSteps) > 2 * static_cast<std::uint64_t>(kGateSteps);
          };
          if ((beyond(dx) | beyond(dy) | beyond(dz)) != 0) continue;
          const std::int64_t squared = dx * dx + dy * dy + dz * dz;
          if (squared <= kGateSteps * kGateSteps && table.cell(q.y) == cy && table.cell(q.z) == cz)
            visit(k, squared);
        }
      };
      const std::uint64_t first = table.slot(x0, cy, cz), end = first + run;
      scan(first, end <= table.slots() ? end : table.slots());
      if (end > table.slots()) scan(0, end - table.slots());  // the run wraps around the table's end
    }
  }
}

}  // namespace motes::tracking
