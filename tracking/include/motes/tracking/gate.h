#pragma once
/// The gate: the longest displacement from one frame to the next that may be a link. Linking by pairs
/// (candidates.h) and as a series (series_links.h) share this type. gate_estimate.h estimates a gate from the
/// data.

#include <limits>
#include <string>

namespace motes::tracking {

/// The origin of a gate.
enum class GateSource {
  none,      ///< displacements are not bounded
  length,    ///< given as a length
  speed,     ///< given as a speed; the length is the speed times the time between frames
  estimated  ///< estimated from the detections
};

/// The name of the origin: "none", the option ("linking.gate_um" or "linking.max_speed_um_s"), or
/// "estimated".
std::string to_string(GateSource source);

struct Gate {
  double um = std::numeric_limits<double>::infinity();  ///< in the length unit of the detections
  GateSource source = GateSource::none;

  Gate() = default;
  Gate(double length_um, GateSource from = GateSource::length) : um(length_um), source(from) {}

  bool bounded() const { return um != std::numeric_limits<double>::infinity(); }
};

/// Between these, a gate's square and prices in steps of it are finite and not 0.
inline constexpr double kLeastGate = 1e-100, kMostGate = 1e100;

/// Throws UsageError, naming linking.gate_um, for a gate that is not positive, not finite, or outside
/// [kLeastGate, kMostGate].
void require_length(const Gate& gate);

}  // namespace motes::tracking
