/// The table of a rotationally symmetric PSF.
///
/// Both functions are sampled at nodes of z and r about the spot, summed over z by the trapezoid rule, and
/// scaled so that the tabulated light is 1. The integral over r is that of straight lines between nodes, as
/// rendering uses them, so the voxels of a whole spot sum to its photons, wherever it is relative to planes
/// and voxels.

#include "sim/imaging/psf.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <motes/base/exact_math.h>
#include <motes/base/parallel_for.h>

#include "sim/refuse.h"

namespace motes::sim::detail {
namespace {

constexpr double kZCells = 160;  // z cells of a table with the usual range
constexpr double kMostZCells = 1600;
constexpr double kFading = 0.25;         // share of the range at each end over which light fades out
constexpr int kNodesPerAiryRadius = 16;  // errors of straight lines are then below .2 % of the peak
constexpr double kMaxTangent = 1.5;      // largest tangent of the light cone for a table
constexpr int kMaxDepths = 32;
constexpr double kMaxRadialNodes = 4096;  // four lines fit into the shared memory of a GPU block

/// The effective numerical aperture: the sample's index limits the angle.
double working_na(const ImagingOptions& imaging) {
  return std::min(imaging.na, imaging.sample_index.value_or(imaging.refractive_index));
}

double rayleigh_range_um(const ImagingOptions& imaging) {
  const double waist = imaging.wavelength_um / (std::numbers::pi * imaging.na);
  return std::numbers::pi * waist * waist * imaging.refractive_index / imaging.wavelength_um;
}

/// An even number, so that a node is at the focus.
std::int32_t z_cells_of(double range_um, double usual_um) {
  return 2 * static_cast<std::int32_t>(std::clamp(kZCells * range_um / usual_um, kZCells, kMostZCells) / 2);
}

/// 1 except near the ends of the range, since a table that ended abruptly would draw edges that detectors
/// find.
double fading(double z_um, double range_um) {
  const double beyond = (std::abs(z_um) / range_um - (1 - kFading)) / kFading;
  if (beyond <= 0) return 1;
  const double cosine = exact_sin_cos_turns(0.25 * std::min(beyond, 1.0)).cos;
  return cosine * cosine;
}

void size_gaussian_beam(const ImagingOptions& imaging, PsfTable& table) {
  const double waist = imaging.wavelength_um / (std::numbers::pi * imaging.na);
  const double rayleigh = rayleigh_range_um(imaging);
  table.range_um = imaging.psf_range_um.value_or(5 * rayleigh);
  table.z_cells = z_cells_of(table.range_um, 5 * rayleigh);
  const double relative = table.range_um / rayleigh;
  table.radius_um = 2 * waist * std::sqrt(1 + relative * relative);  // four sigma
  table.r_step_um = waist / kNodesPerAiryRadius;
  table.sigma_um = waist / 2;
}

/// The largest difference between rays of the optical path added per micron of sample depth, in um: the part
/// of the mismatch that remains after correction of the paraxial focus.
double aberration_per_um(const ImagingOptions& imaging) {
  const double ni = imaging.refractive_index, ns = imaging.sample_index.value_or(ni);
  const double na = working_na(imaging);
  double least = 0, most = 0;
  for (int i = 0; i <= 64; ++i) {
    const double s = na * i / 64, s2 = s * s;
    const double path = ns * std::sqrt(std::max(0.0, 1 - s2 / (ns * ns))) - ns -
                        (ni * ni / ns * std::sqrt(std::max(0.0, 1 - s2 / (ni * ni))) - ni * ni / ns);
    least = std::min(least, path);
    most = std::max(most, path);
  }
  return most - least;
}

void size_gibson_lanni(const MotionOptions& motion, const ImagingOptions& imaging, PsfTable& table) {
  const double n = imaging.sample_index.value_or(imaging.refractive_index), na = working_na(imaging);
  const double airy = 0.61 * imaging.wavelength_um / na;
  // Twice the distance of the first dark point on the axis, plus twice the distance from the paraxial focus
  // at which rays at nine tenths of the aperture meet the axis.
  const double usual_um = 4 * n * imaging.wavelength_um / (na * na);
  const auto cosine = [&](double index) { return std::sqrt(1 - 0.81 * na * na / (index * index)); };
  const double spread_um =
      (imaging.depth_um + motion.box_um.z) * std::abs(cosine(imaging.refractive_index) / cosine(n) - 1);
  table.range_um = imaging.psf_range_um.value_or(usual_um + std::min(spread_um, usual_um));
  table.z_cells = z_cells_of(table.range_um, usual_um);
  const double cosine2 = 1 - na * na / (n * n);
  const double tangent = std::min(kMaxTangent, na / n / std::sqrt(std::max(cosine2, 1e-6)));
  table.radius_um = table.range_um * tangent + 3 * airy;
  table.r_step_um = airy / kNodesPerAiryRadius;
  table.sigma_um = 0.21 * imaging.wavelength_um / na;
  const double levels = std::ceil(10 * motion.box_um.z * aberration_per_um(imaging) / imaging.wavelength_um);
  table.depths = static_cast<std::int32_t>(std::clamp(levels + 1, 1.0, double{kMaxDepths}));
  table.depth_step_um = table.depths > 1 ? motion.box_um.z / (table.depths - 1) : 0;
}

/// Light per um^3, not normalised, [z * r].
std::vector<double> gaussian_beam(const ImagingOptions& imaging, const std::vector<double>& z_um,
                                  const std::vector<double>& r_um) {
  const double waist = imaging.wavelength_um / (std::numbers::pi * imaging.na);
  const double rayleigh = rayleigh_range_um(imaging);
  std::vector<double> light;
  for (const double z : z_um) {
    const double width2 = waist * waist * (1 + z / rayleigh * (z / rayleigh));
    for (const double r : r_um) light.push_back(exact_exp(-2 * r * r / width2) / width2);
  }
  return light;
}

/// The integral over the plane of a function that is linear in r between nodes and 0 after the last one.
double over_plane(const double* light, std::int32_t nodes, double step) {
  double sum = 0;
  for (std::int32_t k = 0; k + 1 < nodes; ++k) {
    // Over r in [k, k + 1]: the integral of (a + (b - a)(r - k)) r is a (k/2 + 1/6) + b (k/2 + 1/3).
    const double b = k + 2 < nodes ? light[k + 1] : 0;
    sum += light[k] * (0.5 * k + 1.0 / 6) + b * (0.5 * k + 1.0 / 3);
  }
  return 2 * std::numbers::pi * step * step * sum;
}

}  // namespace

std::vector<CumulativeNode> cumulative_gaussian_nodes() {
  std::vector<CumulativeNode> nodes;
  for (int i = 0; i <= kCumulativeCells; ++i) {
    const double u = static_cast<double>(i - kCumulativeCells / 2) / kNodesPerSigma;
    const double density = exact_exp(-0.5 * u * u) / std::sqrt(2 * std::numbers::pi);
    nodes.push_back({0.5 + 0.5 * exact_erf(u / std::numbers::sqrt2), density / kNodesPerSigma});
  }
  return nodes;
}

PsfTable make_psf_table(const Execution& execution, const MotionOptions& motion,
                        const ImagingOptions& imaging) {
  PsfTable table;
  if (imaging.psf == Psf::gaussian_beam) {
    size_gaussian_beam(imaging, table);
  } else {
    size_gibson_lanni(motion, imaging, table);
  }
  table.z_step_um = 2 * table.range_um / table.z_cells;
  const double r_nodes = std::ceil(table.radius_um / table.r_step_um) + 1;
  if (!(r_nodes <= kMaxRadialNodes))
    refuse("imaging.psf_range_um", table.range_um, "needs too large a table of the light; lower it");
  table.r_nodes = static_cast<std::int32_t>(r_nodes);
  const double voxel = std::max(imaging.voxel_um.x, imaging.voxel_um.y);
  // The samples are closer than half the size of the finest detail.
  table.samples = static_cast<std::int32_t>(
      std::clamp(std::ceil(4 * voxel * imaging.na / imaging.wavelength_um) + 1, 2.0, 16.0));
  std::vector<double> z_um, r_um;
  for (int i = 0; i <= table.z_cells; ++i) z_um.push_back((i - table.z_cells / 2) * table.z_step_um);
  for (std::int32_t k = 0; k < table.r_nodes; ++k) r_um.push_back(k * table.r_step_um);

  const auto nodes = static_cast<std::size_t>(table.r_nodes);
  table.below.resize(static_cast<std::size_t>(table.depths) * z_um.size() * nodes);
  for (std::int32_t depth = 0; depth < table.depths; ++depth) {
    std::vector<double> light =
        imaging.psf == Psf::gaussian_beam
            ? gaussian_beam(imaging, z_um, r_um)
            : gibson_lanni(execution, imaging, imaging.depth_um + depth * table.depth_step_um, z_um, r_um);
    for (std::size_t i = 0; i < light.size(); ++i) light[i] *= fading(z_um[i / nodes], table.range_um);
    std::vector<double> below(light.size());
    for (std::size_t i = nodes; i < light.size(); ++i)
      below[i] = below[i - nodes] + 0.5 * table.z_step_um * (light[i - nodes] + light[i]);
    const double total = over_plane(below.data() + below.size() - nodes, table.r_nodes, table.r_step_um);
    for (std::size_t i = 0; i < below.size(); ++i) {
      const bool last_node = i % nodes == nodes - 1;
      table.below[static_cast<std::size_t>(depth) * below.size() + i] =
          last_node ? 0.0F : static_cast<float>(below[i] / total);
    }
  }
  return table;
}

}  // namespace motes::sim::detail
