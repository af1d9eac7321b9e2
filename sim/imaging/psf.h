#pragma once
/// Point spread functions as tables for CPU and GPU.

#include <cstdint>
#include <vector>

#include <motes/sim/imaging.h>

#include <motes/base/host_device.h>

namespace motes::sim::detail {

/// The integral of the unit Gaussian up to a point, and its slope times the distance between nodes.
struct CumulativeNode {
  double value, slope;
};
inline constexpr int kNodesPerSigma = 64;
inline constexpr int kCumulativeReach = 8;  ///< in sigmas; beyond this the integral is 0 or 1
inline constexpr int kCumulativeCells = 2 * kCumulativeReach * kNodesPerSigma;

/// [kCumulativeCells + 1]; the same bits on every machine.
std::vector<CumulativeNode> cumulative_gaussian_nodes();

/// Cubic Hermite interpolation; error below 1e-9.
MOTES_HOST_DEVICE inline double cumulative_gaussian(const CumulativeNode* nodes, double sigmas) {
  const double at = (sigmas + kCumulativeReach) * kNodesPerSigma;
  if (!(at > 0)) return 0;
  if (at >= kCumulativeCells) return 1;
  const int cell = static_cast<int>(at);
  const double t = at - cell, left = 1 - t;
  const CumulativeNode &a = nodes[cell], &b = nodes[cell + 1];
  const double rise = b.value - a.value;
  return a.value + t * (rise + left * ((a.slope - rise) * left + (rise - b.slope) * t));
}

/// Share of the light within a cut-off at kCutoffSigmas from the voxels: between that of the ellipsoid of
/// four sigma and all, so its error is at most .06 %.
inline constexpr double kCutoffSigmas = 4;
inline constexpr double kKeptShare = 0.99943;

/// A rotationally symmetric PSF: for each depth of the spot, the light per um^2 below a plane at distance z
/// from the spot, at lateral distance r from its axis. The light in a plane of some thickness is the
/// difference of two such values, so light is conserved for any position of planes.
struct PsfTable {
  double range_um = 0;   ///< |z| up to this
  double radius_um = 0;  ///< largest r
  double z_step_um = 0, r_step_um = 0;
  std::int32_t z_cells = 0;  ///< z_cells + 1 nodes
  std::int32_t r_nodes = 0;  ///< the last value is 0
  std::int32_t depths = 1;
  double depth_step_um = 0;  ///< depth index d is for a spot at z = d * depth_step_um
  std::int32_t samples = 2;  ///< a voxel's light is the mean over samples x samples points in it
  double sigma_um = 0;       ///< of the Gaussian with the same lateral width at the focus
  std::vector<float> below;  ///< [depths * (z_cells + 1) * r_nodes]
};

/// Tabulates imaging.psf (not gaussian); the light of a spot sums to 1. O(table * quadrature nodes).
PsfTable make_psf_table(const Execution& execution, const MotionOptions& motion,
                        const ImagingOptions& imaging);

struct PsfTableView {
  double range_um, z_step_um, r_step_um;
  std::int32_t z_cells, r_nodes, samples;
  const float* below;
};

inline PsfTableView view_of(const PsfTable& table) {
  return {table.range_um, table.z_step_um, table.r_step_um,   table.z_cells,
          table.r_nodes,  table.samples,   table.below.data()};
}

/// Light per um^2 below z at r node `k` of the depth's table; linear between nodes.
MOTES_HOST_DEVICE inline double light_below(const PsfTableView& psf, std::int32_t depth, double z_um,
                                            std::int32_t k) {
  const double at = (z_um + psf.range_um) / psf.z_step_um;
  if (!(at > 0)) return 0;
  const float* first = psf.below + static_cast<std::int64_t>(depth) * (psf.z_cells + 1) * psf.r_nodes;
  if (at >= psf.z_cells) return static_cast<double>(first[std::int64_t{psf.z_cells} * psf.r_nodes + k]);
  const auto cell = static_cast<std::int32_t>(at);
  const double t = at - cell;
  const double a = static_cast<double>(first[std::int64_t{cell} * psf.r_nodes + k]);
  const double b = static_cast<double>(first[std::int64_t{cell + 1} * psf.r_nodes + k]);
  return a + (b - a) * t;
}

/// |integral of J0(k NA r rho) exp(i k W(rho)) rho drho|^2 on a grid; exposed for tests.
/// Returns [z.size() * r.size()], not normalised.
std::vector<double> gibson_lanni(const Execution& execution, const ImagingOptions& imaging,
                                 double spot_depth_um, const std::vector<double>& z_um,
                                 const std::vector<double>& r_um);

}  // namespace motes::sim::detail
