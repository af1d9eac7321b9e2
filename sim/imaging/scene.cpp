/// Tables and spots of a series, computed on the CPU.

#include "sim/imaging/scene.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include <motes/base/errors.h>
#include <motes/base/exact_math.h>
#include <motes/base/parallel_for.h>
#include <motes/base/random.h>

namespace motes::sim::detail {
namespace {

/// The stream for a particle's brightness and size; streams from 64 on are for imaging.
constexpr RandomStream kSpreadStream{64};

/// Photons beyond which a voxel is saturated for any read noise.
double saturating_photons(const ImagingOptions& imaging) {
  const double largest_grey = std::ldexp(1.0, imaging.bit_depth);
  return (largest_grey + 10 * imaging.read_noise + 1) / imaging.gain;
}

double lateral_sigma_um(const Scene& scene) {
  return scene.tabulated() ? scene.psf.sigma_um : scene.imaging.psf_sigma_um.x;
}

/// The property's values, or nullptr.
const std::vector<double>* property(const TrackSet& truth, const char* name) {
  for (const PropertyColumn& column : truth.point_properties)
    if (column.name == name && column.values.size() == truth.points()) return &column.values;
  return nullptr;
}

/// The share of a spot's light in the voxel on whose centre it lies.
double centre_share(const FrameRules& rules, const Spot& spot) {
  if (rules.psf.r_nodes == 0)
    return static_cast<double>(row_light(spot.light,
                                         gaussian_share(rules.cumulative, 0, rules.vz, 0, spot.sz),
                                         gaussian_share(rules.cumulative, 0, rules.vy, 0, spot.sy)) *
                               gaussian_share(rules.cumulative, 0, rules.vx, 0, spot.sx).weight);
  std::vector<float> line;
  for (std::int32_t k = 0; k < rules.psf.r_nodes; ++k) line.push_back(plane_light(rules, spot, 0, k));
  return static_cast<double>(voxel_light(rules, spot, line.data(), 0, 0));
}

}  // namespace

Scene::Scene(const Execution& execution, const MotionOptions& motion_options,
             const ImagingOptions& imaging_options)
    : motion(motion_options),
      imaging(imaging_options),
      shape((check_options(motion, imaging), frame_shape(motion, imaging))),
      cumulative(cumulative_gaussian_nodes()),
      photons(imaging.background, saturating_photons(imaging)) {
  if (tabulated()) psf = make_psf_table(execution, motion, imaging);
  if (imaging.read_noise > 0) noise.add_normal(kNoiseSteps);

  Spot spot{};
  spot.light = tabulated() ? 1 : 1 / kKeptShare;
  spot.sx = tabulated() ? 1 : imaging.psf_sigma_um.x;
  spot.sy = tabulated() ? 1 : imaging.psf_sigma_um.y;
  spot.sz = tabulated() ? 1 : imaging.psf_sigma_um.z;
  spot.depth = psf.depths / 2;  // the middle of the box
  light.centre_share = centre_share(rules(0), spot);
  light.photons = imaging.photons.value_or(
      peak_for_snr(imaging.snr.value_or(ImagingOptions::kDefaultSnr), imaging.background) /
      light.centre_share);
  radius_um = std::sqrt(3.0) * lateral_sigma_um(*this);
}

FrameRules Scene::rules(std::int32_t t) const {
  FrameRules rules{};
  rules.nz = shape.nz;
  rules.ny = shape.ny;
  rules.nx = shape.nx;
  rules.vz = imaging.voxel_um.z;
  rules.vy = imaging.voxel_um.y;
  rules.vx = imaging.voxel_um.x;
  rules.cumulative = cumulative.data();
  rules.psf = view_of(psf);
  rules.photons = view_of(photons);
  rules.noise = view_of(noise);
  rules.noise_step = imaging.read_noise / kNoiseSteps;
  rules.gain = imaging.gain;
  rules.offset = imaging.offset;
  rules.largest_grey = std::ldexp(1.0, imaging.bit_depth) - 1;
  rules.seed = motion.seed;
  rules.frame = static_cast<std::uint32_t>(t);
  return rules;
}

Appearance appearance(const Scene& scene, std::int64_t track_id, double time_s) {
  const ImagingOptions& imaging = scene.imaging;
  Appearance look{scene.light.photons, scene.radius_um};
  if (imaging.intensity_spread > 0 || imaging.radius_spread > 0) {
    const auto id = static_cast<std::uint64_t>(track_id);
    Random random(scene.motion.seed, kSpreadStream, static_cast<std::uint32_t>(id),
                  static_cast<std::uint32_t>(id >> 32));
    const double bright = random.normal(), large = random.normal();
    look.photons *= exact_exp(imaging.intensity_spread * bright);
    look.radius_um *= exact_exp(imaging.radius_spread * large);
  }
  if (imaging.bleaching_s) look.photons *= exact_exp(-time_s / *imaging.bleaching_s);
  return look;
}

namespace {

/// The index of a track's point in frame t, if it has one.
std::optional<std::size_t> point_in_frame(const TrackSet& truth, std::size_t track, std::int32_t t) {
  const auto begin = truth.frame.begin() + truth.track_offsets[track];
  const auto end = truth.frame.begin() + truth.track_offsets[track + 1];
  const auto found = std::lower_bound(begin, end, t);
  if (found == end || *found != t) return std::nullopt;
  return static_cast<std::size_t>(found - truth.frame.begin());
}

/// The fault of a point, or nullptr.
const char* fault_of(const Vec3& at, const Appearance& look) {
  if (!std::isfinite(at.x) || !std::isfinite(at.y) || !std::isfinite(at.z)) return "no finite position";
  if (!(look.photons >= 0 && look.photons <= 1e30)) return "no sensible number of photons";
  if (!(look.radius_um > 0 && look.radius_um <= 1e12)) return "no sensible radius";
  return nullptr;
}

}  // namespace

std::vector<Spot> Scene::spots(const Execution& execution, const TrackSet& truth, std::int32_t t) const {
  const FrameRules frame_rules = rules(t);
  const std::vector<double>* photons_of_point = property(truth, kPhotonsProperty);
  const std::vector<double>* radius_of_point = property(truth, kRadiusProperty);
  const auto appearance_of = [&](std::size_t track, std::size_t point) {
    const double time_s = std::isfinite(truth.time_s[point]) ? truth.time_s[point] : t * motion.dt_s;
    Appearance look{};
    if (!photons_of_point || !radius_of_point) look = appearance(*this, truth.track_id[track], time_s);
    if (photons_of_point) look.photons = (*photons_of_point)[point];
    if (radius_of_point) look.radius_um = (*radius_of_point)[point];
    return look;
  };
  const auto add_spot_of = [&](std::size_t track, std::vector<Spot>& out) {
    const std::optional<std::size_t> point = point_in_frame(truth, track, t);
    if (!point) return;
    const Appearance look = appearance_of(track, *point);
    const Vec3 at{truth.x_um[*point], truth.y_um[*point], truth.z_um[*point]};
    if (const char* fault = fault_of(at, look); fault != nullptr)
      throw InputError("truth: track " + std::to_string(truth.track_id[track]) + " has " + fault +
                       " in frame " + std::to_string(t) + "; remove that point");
    const Spot spot = spot_of(at, look);
    if (look.photons > 0 && !empty(reach_of(frame_rules, spot))) out.push_back(spot);
  };
  constexpr std::size_t kChunk = 4096;
  const std::size_t chunks = (truth.tracks() + kChunk - 1) / kChunk;
  std::vector<std::vector<Spot>> parts(chunks);
  parallel_for(thread_count(execution), static_cast<std::int64_t>(chunks), [&](std::int64_t chunk) {
    const auto part = static_cast<std::size_t>(chunk);
    const std::size_t last = std::min(truth.tracks(), (part + 1) * kChunk);
    for (std::size_t track = part * kChunk; track < last; ++track) add_spot_of(track, parts[part]);
  });
  std::vector<Spot> spots;
  for (const std::vector<Spot>& part : parts) spots.insert(spots.end(), part.begin(), part.end());
  return spots;
}

Spot Scene::spot_of(const Vec3& at, const Appearance& look) const {
  Spot spot{};
  spot.x = at.x;
  spot.y = at.y;
  spot.z = at.z;
  const double scale = look.radius_um / radius_um;
  if (tabulated()) {
    spot.light = look.photons;
    spot.sx = spot.sy = spot.sz = scale;
    if (psf.depths > 1)
      spot.depth = static_cast<std::int32_t>(
          std::clamp(std::floor(spot.z / psf.depth_step_um + 0.5), 0.0, psf.depths - 1.0));
  } else {
    const double focus = imaging.focal_plane_um.value_or(0.5 * motion.box_um.z);
    const double away = imaging.defocus_um ? (spot.z - focus) / *imaging.defocus_um : 0;
    const double widening = std::sqrt(1 + away * away);
    spot.light = look.photons / kKeptShare;
    spot.sx = imaging.psf_sigma_um.x * scale * widening;
    spot.sy = imaging.psf_sigma_um.y * scale * widening;
    spot.sz = imaging.psf_sigma_um.z * scale;
  }
  return spot;
}

void add_light(const FrameRules& rules, const std::vector<Spot>& spots,
               const std::vector<std::uint32_t>& order, Reach z_box, Reach y_box, float* light) {
  const auto index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t rows = y_box.last - y_box.first;
  std::vector<AxisShare> ys;
  std::vector<float> weight, distance2, line;
  for (const std::uint32_t n : order) {
    const Spot& spot = spots[n];
    SpotReach reach = reach_of(rules, spot);
    reach.z = {std::max(reach.z.first, z_box.first), std::min(reach.z.last, z_box.last)};
    reach.y = {std::max(reach.y.first, y_box.first), std::min(reach.y.last, y_box.last)};
    const std::int64_t x0 = reach.x.first, width = reach.x.last - x0;
    if (empty(reach)) continue;
    if (rules.psf.r_nodes > 0) {
      line.resize(index(rules.psf.r_nodes));
      for (std::int64_t z = reach.z.first; z < reach.z.last; ++z) {
        for (std::int32_t k = 0; k < rules.psf.r_nodes; ++k) line[index(k)] = plane_light(rules, spot, z, k);
        for (std::int64_t y = reach.y.first; y < reach.y.last; ++y) {
          float* out = light + ((z - z_box.first) * rows + (y - y_box.first)) * rules.nx;
          for (std::int64_t x = x0; x < reach.x.last; ++x)
            out[x] += voxel_light(rules, spot, line.data(), y, x);
        }
      }
      continue;
    }
    weight.resize(index(width));
    distance2.resize(index(width));
    for (std::int64_t i = 0; i < width; ++i) {
      const AxisShare x = gaussian_share(rules.cumulative, x0 + i, rules.vx, spot.x, spot.sx);
      weight[index(i)] = x.weight;
      distance2[index(i)] = x.distance2;
    }
    ys.clear();
    for (std::int64_t y = reach.y.first; y < reach.y.last; ++y)
      ys.push_back(gaussian_share(rules.cumulative, y, rules.vy, spot.y, spot.sy));
    for (std::int64_t z = reach.z.first; z < reach.z.last; ++z) {
      const AxisShare along = gaussian_share(rules.cumulative, z, rules.vz, spot.z, spot.sz);
      for (std::int64_t y = reach.y.first; y < reach.y.last; ++y) {
        const AxisShare& across = ys[index(y - reach.y.first)];
        const float left = cutoff_left(along, across);
        if (left < 0) continue;
        const float row = row_light(spot.light, along, across);
        float* out = light + ((z - z_box.first) * rows + (y - y_box.first)) * rules.nx + x0;
        const float *w = weight.data(), *d = distance2.data();
        for (std::int64_t i = 0; i < width; ++i) out[i] += d[i] <= left ? row * w[i] : 0.0F;
      }
    }
  }
}

}  // namespace motes::sim::detail
