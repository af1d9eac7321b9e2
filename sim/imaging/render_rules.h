#pragma once
/// The rules of rendering that CPU and GPU share: the light of one spot in one voxel, and the grey level of a
/// voxel from its light. On both, a voxel's light is a float sum in the order of the spots.

#include <cmath>
#include <cstdint>

#include <motes/base/random.h>

#include <motes/base/host_device.h>
#include "sim/imaging/photon_table.h"
#include "sim/imaging/psf.h"

namespace motes::sim::detail {

/// One spot of one frame, ready to be drawn.
struct Spot {
  double x, y, z;      ///< um
  double sx, sy, sz;   ///< gaussian: sigmas in um; table: sx = sy = sz = the scale of the table
  double light;        ///< photons, scaled so that the voxels drawn sum to the requested number
  std::int32_t depth;  ///< depth index of the table
};

/// The grid of voxels and the parameters that turn light into grey levels. Trivially copyable.
struct FrameRules {
  std::int64_t nz, ny, nx;
  double vz, vy, vx;                 ///< um
  const CumulativeNode* cumulative;  ///< gaussian
  PsfTableView psf;                  ///< r_nodes 0: gaussian
  PhotonView photons;
  InversionView noise;  ///< table 0: normal numbers in steps of sigma / kNoiseSteps
  double noise_step;    ///< grey levels; 0: no read noise
  double gain, offset, largest_grey;
  std::uint64_t seed;
  std::uint32_t frame;
};

inline constexpr int kNoiseSteps = 256;

/// A Gaussian's integral over a voxel along one axis, and the squared distance (in sigmas) of the voxel's
/// nearest point.
struct AxisShare {
  float weight, distance2;
};

MOTES_HOST_DEVICE inline AxisShare gaussian_share(const CumulativeNode* cumulative, std::int64_t voxel,
                                                  double voxel_um, double at_um, double sigma_um) {
  const double centre = static_cast<double>(voxel) * voxel_um - at_um, half = 0.5 * voxel_um;
  const double upper = cumulative_gaussian(cumulative, (centre + half) / sigma_um);
  const double lower = cumulative_gaussian(cumulative, (centre - half) / sigma_um);
  double distance = (centre < 0 ? -centre : centre) - half;
  distance = distance > 0 ? distance / sigma_um : 0;
  return {static_cast<float>(upper - lower), static_cast<float>(distance * distance)};
}

/// The part of the squared cut-off left for x after y and z; negative: the row is outside.
MOTES_HOST_DEVICE inline float cutoff_left(const AxisShare& z, const AxisShare& y) {
  return static_cast<float>(kCutoffSigmas * kCutoffSigmas) - (z.distance2 + y.distance2);
}

MOTES_HOST_DEVICE inline float row_light(double light, const AxisShare& z, const AxisShare& y) {
  return static_cast<float>(light) * z.weight * y.weight;
}

/// Light per um^2 in the plane at r node k, for a spot of unit light.
MOTES_HOST_DEVICE inline float plane_light(const FrameRules& rules, const Spot& spot, std::int64_t plane,
                                           std::int32_t k) {
  const double centre = static_cast<double>(plane) * rules.vz - spot.z, half = 0.5 * rules.vz;
  return static_cast<float>(light_below(rules.psf, spot.depth, (centre + half) / spot.sz, k) -
                            light_below(rules.psf, spot.depth, (centre - half) / spot.sz, k));
}

/// Light of one voxel, from its plane's line of light by r node.
MOTES_HOST_DEVICE inline float voxel_light(const FrameRules& rules, const Spot& spot, const float* line,
                                           std::int64_t y, std::int64_t x) {
  const double per_node_y = 1 / (spot.sy * rules.psf.r_step_um);
  const double per_node_x = 1 / (spot.sx * rules.psf.r_step_um);
  const double inverse = 1.0 / rules.psf.samples;
  float sum = 0;
  for (std::int32_t j = 0; j < rules.psf.samples; ++j) {
    const double v = static_cast<double>(y) + (j + 0.5) * inverse - 0.5;
    const auto dy = static_cast<float>((v * rules.vy - spot.y) * per_node_y);
    for (std::int32_t i = 0; i < rules.psf.samples; ++i) {
      const double u = static_cast<double>(x) + (i + 0.5) * inverse - 0.5;
      const auto dx = static_cast<float>((u * rules.vx - spot.x) * per_node_x);
      const float r = sqrtf(dx * dx + dy * dy);
      if (r < static_cast<float>(rules.psf.r_nodes - 1)) {
        const auto k = static_cast<std::int32_t>(r);
        sum += line[k] + (line[k + 1] - line[k]) * (r - static_cast<float>(k));
      }
    }
  }
  const double area = rules.vx * rules.vy * (inverse * inverse) / (spot.sx * spot.sy);
  return static_cast<float>(spot.light * area) * sum;
}

/// A range of voxels [first, last) along an axis that a spot may reach, with a margin for rounding.
struct Reach {
  std::int64_t first, last;
};

MOTES_HOST_DEVICE inline Reach reach_of(double at_um, double reach_um, double voxel_um, std::int64_t voxels) {
  const double low = (at_um - reach_um) / voxel_um - 0.51, high = (at_um + reach_um) / voxel_um + 1.51;
  const auto clamped = [&](double v) {
    return v < 0 ? 0 : v > static_cast<double>(voxels) ? voxels : static_cast<std::int64_t>(v);
  };
  const Reach reach{clamped(low), clamped(high)};
  return reach;
}

struct SpotReach {
  Reach z, y, x;
};

MOTES_HOST_DEVICE inline SpotReach reach_of(const FrameRules& rules, const Spot& spot) {
  // Slightly larger than the cut-off, which decides.
  constexpr double kRoom = 1.0001;
  const bool table = rules.psf.r_nodes > 0;
  const double across = table ? rules.psf.r_nodes * rules.psf.r_step_um : kCutoffSigmas;
  const double along = table ? rules.psf.range_um : kCutoffSigmas;
  return {reach_of(spot.z, kRoom * along * spot.sz, rules.vz, rules.nz),
          reach_of(spot.y, kRoom * across * spot.sy, rules.vy, rules.ny),
          reach_of(spot.x, kRoom * across * spot.sx, rules.vx, rules.nx)};
}

MOTES_HOST_DEVICE inline bool empty(const SpotReach& reach) {
  return reach.z.first >= reach.z.last || reach.y.first >= reach.y.last || reach.x.first >= reach.x.last;
}

/// The number of the block of random words that four voxels of a row share.
MOTES_HOST_DEVICE inline std::uint32_t block_of(const FrameRules& rules, std::int64_t z, std::int64_t y,
                                                std::int64_t x) {
  const std::int64_t blocks = (rules.nx + 3) / 4;
  return static_cast<std::uint32_t>((z * rules.ny + y) * blocks + x / 4);
}

/// Further words of one voxel of a block, for photons_of; a bright voxel needs a word for each binary digit.
struct MoreWords {
  std::uint64_t seed;
  std::uint32_t block, frame, lane;
  MOTES_HOST_DEVICE std::uint32_t operator()(std::uint32_t n) const {
    const std::uint32_t count = 1 + lane * 8 + n / 4;  // at most 22 digits, so voxels never share words
    return philox4x32({count, block, frame, static_cast<std::uint32_t>(RandomStream::photons)},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})[n % 4];
  }
};

/// The grey level of a voxel: Poisson photons, gain, offset, read noise, rounding, clamping.
template <class More>
MOTES_HOST_DEVICE inline std::uint16_t grey_level(const FrameRules& rules, float light, std::uint32_t word,
                                                  std::uint32_t noise_word, const More& more) {
  double grey = photons_of(rules.photons, light, word, more) * rules.gain + rules.offset;
  if (rules.noise_step > 0) grey += find_number(rules.noise, 0, noise_word) * rules.noise_step;
  grey += 0.5;
  if (!(grey > 0)) return 0;
  return static_cast<std::uint16_t>(grey < rules.largest_grey ? grey : rules.largest_grey);
}

}  // namespace motes::sim::detail
