#pragma once
/// The recorded positions of each particle, before they are cut into tracks.

#include <cstdint>
#include <vector>

#include <motes/sim/motion.h>

#include "sim/motion/model.h"

namespace motes::sim::detail {

/// The records of particle p are [offsets[p], offsets[p + 1]), by rising frame.
struct Records {
  std::vector<std::int64_t> offsets;    ///< [particles + 1]
  std::vector<std::int32_t> frame;      ///< [records]
  std::vector<double> x, y, z;          ///< [records]
  std::vector<std::uint8_t> code;       ///< [records] state, kRenewedBit, kAbsent; empty: present, in state 0
  std::vector<double> time;             ///< [records], to be filled; or empty
  std::vector<std::int64_t> detection;  ///< [records] -1; or empty
  std::vector<std::int64_t> parent;     ///< [particles] -1 none; empty: nothing divides
  std::vector<double> birth, death;     ///< [particles]; empty: from the simulation
  std::vector<std::uint8_t> divided;    ///< [particles] ended by a division; empty: nothing divides
  std::size_t particles() const { return offsets.size() - 1; }
};

/// Throws Interrupted, since the caller of simulate_motion asked to stop.
[[noreturn]] void throw_stopped();

/// Whether every particle is seen in every frame, in state 0.
bool always_seen(const MotionOptions& options);

/// One record per particle and frame: offsets and frames are set, the other arrays have their size.
Records dense_records(const Execution& execution, const Simulation& simulation, bool with_codes);

/// Cuts the particles into tracks (see simulate_motion) with their properties. O(records).
TrackSet assemble_tracks(const Execution& execution, const MotionOptions& options,
                         const Simulation& simulation, Records records);

}  // namespace motes::sim::detail
