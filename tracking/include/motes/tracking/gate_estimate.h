#pragma once
/// A linking gate from the data, for users who did not give one. docs/method/pair-linking.md has the method
/// and where it fails.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/gate.h>

namespace motes::tracking {

/// How many links a gate allows at all, in one sampled frame pair.
struct GateCurve {
  std::int32_t from = 0, to = 0;          ///< the frames' numbers
  std::int64_t rows = 0;                  ///< detections of the earlier frame in the sample
  std::vector<std::int64_t> cardinality;  ///< [gates] of a maximum matching within each gate
};

/// What the gate was made from.
enum class GateRule {
  cardinality,  ///< links that are possible
  neighbours    ///< mutual nearest neighbours: if counts of pairs do not tell how many have a partner
};

struct GateEstimate {
  double gate_um = 0;
  GateRule rule = GateRule::neighbours;
  double displacement_um = 0;  ///< median displacement between mutual nearest neighbours of successive frames
  double spacing_um = 0;  ///< median nearest-neighbour distance within a frame; 0: frames hold one particle
  double share = 0;       ///< of the possible links that the gate must allow: what the caller asked for
  double partners = 0;    ///< share of the detections that have a partner in the next frame, by pair counts
  /// The smallest gates that allow so many links: share x partners x rows; share x rows, or as many as any
  /// gate allows. 0 where frames hold one particle.
  double needed_um = 0, needed_by_all_um = 0;
  double neighbours_um = 0;       ///< what GateRule::neighbours gives
  std::vector<double> gates_um;   ///< gates of the curves; empty if frames hold one particle
  std::vector<GateCurve> curves;  ///< of each sampled frame pair

  Gate gate() const { return {gate_um, GateSource::estimated}; }
  /// displacement / spacing; above kUntrustworthyRatio links deserve little trust, and users are told so.
  double ratio() const { return spacing_um > 0 ? displacement_um / spacing_um : 0; }
  /// Of all sampled rows, how many may be linked within a gate; 0..1, interpolated.
  double linkable_within(double gate_um) const;
};

inline constexpr double kUntrustworthyRatio = 0.5;
inline constexpr double kGateShare = 0.99;

/// By cardinality: 1.25 x the smallest gate that allows `share` (above 0, at most 1) of the links that are
/// there to be found, but at least what the neighbours give (up to 0.7 x the spacing where some detections
/// surely have no partner), and at most 1.6 x that; where the displacement is below a third of the spacing,
/// at most what the neighbours give or 0.95 x the spacing, and below 0.075 of it never less. By
/// neighbours: 2.5 x the 95th percentile of displacements, at most 0.92 x the 90th percentile of
/// nearest-neighbour distances. Never below 0.1 x the spacing. From about 4096 detections of pairs spread
/// over the series, at most 1024 of each; O(detections of those frames), the same for any number of threads.
/// None where no two successive frames have detections.
std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames,
                                          double share = kGateShare);

}  // namespace motes::tracking
