#pragma once
/// Estimates a linking gate from the data. docs/method/pair-linking.md describes the method and its limits.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/detections.h>
#include <motes/tracking/gate.h>

namespace motes::tracking {

/// The number of links that each gate allows in one sampled frame pair.
struct GateCurve {
  std::int32_t from = 0, to = 0;          ///< the frames' numbers
  std::int64_t rows = 0;                  ///< detections of the earlier frame in the sample
  std::vector<std::int64_t> cardinality;  ///< [gates] links of a maximum matching within each gate
};

/// What the gate is based on.
enum class GateRule {
  cardinality,  ///< numbers of possible links
  neighbours    ///< mutual nearest neighbours; used if counts of pairs do not show how many detections have a
                ///< partner
};

struct GateEstimate {
  double gate_um = 0;
  GateRule rule = GateRule::neighbours;
  double displacement_um = 0;  ///< median displacement between mutual nearest neighbours of successive frames
  double spacing_um = 0;  ///< median nearest-neighbour distance within a frame; 0: frames hold one particle
  double share = 0;       ///< of the possible links that the gate must allow, as the caller asked
  double partners = 0;  ///< share of detections with a partner in the next frame, estimated by counting pairs
  /// Smallest gates that allow a number of links: `needed_um`, share x partners x rows; `needed_by_all_um`,
  /// share x rows, or as many as any gate allows. 0 if frames hold one particle.
  double needed_um = 0, needed_by_all_um = 0;
  double neighbours_um = 0;       ///< the gate by GateRule::neighbours
  std::vector<double> gates_um;   ///< [gates] of the curves; empty if frames hold one particle
  std::vector<GateCurve> curves;  ///< [sampled frame pairs]

  Gate gate() const { return {gate_um, GateSource::estimated}; }
  /// displacement / spacing; above kUntrustworthyRatio many links are wrong, and users are warned.
  double ratio() const { return spacing_um > 0 ? displacement_um / spacing_um : 0; }
  /// The share of all sampled rows that can be linked within a gate: 0 to 1, interpolated.
  double linkable_within(double gate_um) const;
};

inline constexpr double kUntrustworthyRatio = 0.5;
inline constexpr double kGateShare = 0.99;

/// A gate for the frames, which must be in order; none if no two successive frames have detections.
///
/// By cardinality: 1.25 x the smallest gate that allows `share` (above 0, at most 1) of the links that can be
/// found, but at least the gate by neighbours (up to 0.7 x the spacing if some detections surely have no
/// partner), and at most 1.6 x that. If the displacement is below a third of the spacing: at most the gate by
/// neighbours or 0.95 x the spacing; below 0.075 of the spacing, never less. By neighbours: 2.5 x the 95th
/// percentile of displacements, at most 0.92 x the 90th percentile of nearest-neighbour distances. Never
/// below 0.1 x the spacing.
///
/// It uses about 4096 detections, at most 1024 of a frame pair, from pairs spread over the series.
/// O(detections of those frames); the same for any number of threads.
std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames,
                                          double share = kGateShare);

}  // namespace motes::tracking
