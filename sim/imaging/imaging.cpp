/// A fluorescence volume of one frame, tile by tile. A tile is a few planes by a few rows, and fits into a
/// cache.
///
/// A tile's light is summed in a float buffer: every spot that reaches the tile adds its share, in the order
/// of the spots, so that a voxel's sum does not depend on tiles or threads. Then each voxel's photons follow
/// from its light and one random word (photon_table.h), and its grey level from these and another word for
/// the camera. The words are those of the voxel, so results do not depend on threads.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>
#include <motes/base/random.h>
#include <motes/base/timer.h>
#include <motes/sim/imaging.h>

#include "sim/imaging/device_renderer.h"
#include "sim/imaging/scene.h"

namespace motes::sim {
namespace {

using detail::FrameRules, detail::Scene, detail::Spot, detail::Reach;

constexpr std::int64_t kTilePlanes = 8;
constexpr std::int64_t kTileVoxels = std::int64_t{1} << 17;  // half a megabyte of light

/// The frame divided into tiles, and the spots that reach each tile: ascending, in CSR form.
class Tiles {
 public:
  Tiles(const FrameRules& rules, const std::vector<Spot>& spots) : rules_(rules) {
    rows_ = std::clamp(kTileVoxels / kTilePlanes / rules.nx, std::int64_t{4}, std::int64_t{64});
    bands_ = (rules.ny + rows_ - 1) / rows_;
    slabs_ = (rules.nz + kTilePlanes - 1) / kTilePlanes;
    spots_.resize(static_cast<std::size_t>(count()));
    for (std::size_t n = 0; n < spots.size(); ++n) {
      const detail::SpotReach reach = detail::reach_of(rules, spots[n]);
      for (std::int64_t s = reach.z.first / kTilePlanes; s <= (reach.z.last - 1) / kTilePlanes; ++s)
        for (std::int64_t b = reach.y.first / rows_; b <= (reach.y.last - 1) / rows_; ++b)
          spots_[static_cast<std::size_t>(s * bands_ + b)].push_back(static_cast<std::uint32_t>(n));
    }
  }

  std::int64_t count() const { return slabs_ * bands_; }
  std::int64_t most_voxels() const { return kTilePlanes * rows_ * rules_.nx; }
  Reach planes(std::int64_t tile) const {
    const std::int64_t first = tile / bands_ * kTilePlanes;
    return {first, std::min(first + kTilePlanes, rules_.nz)};
  }
  Reach rows(std::int64_t tile) const {
    const std::int64_t first = tile % bands_ * rows_;
    return {first, std::min(first + rows_, rules_.ny)};
  }
  const std::vector<std::uint32_t>& spots(std::int64_t tile) const {
    return spots_[static_cast<std::size_t>(tile)];
  }

 private:
  const FrameRules& rules_;
  std::int64_t rows_, bands_, slabs_;
  std::vector<std::vector<std::uint32_t>> spots_;
};

/// Grey levels of one row from its light.
template <class Grey>
void develop_row(const FrameRules& rules, std::int64_t z, std::int64_t y, const float* light, Grey* grey) {
  for (std::int64_t x = 0; x < rules.nx; x += 4) {
    const std::uint32_t block = detail::block_of(rules, z, y, x);
    const auto words = random_block(rules.seed, RandomStream::background, block, rules.frame);
    std::array<std::uint32_t, 4> noise{};
    if (rules.noise_step > 0) noise = random_block(rules.seed, RandomStream::camera, block, rules.frame);
    const std::int64_t last = std::min<std::int64_t>(4, rules.nx - x);
    for (std::int64_t i = 0; i < last; ++i) {
      const auto lane = static_cast<std::size_t>(i);
      const detail::MoreWords more{rules.seed, block, rules.frame, static_cast<std::uint32_t>(i)};
      grey[x + i] =
          static_cast<Grey>(detail::grey_level(rules, light[x + i], words[lane], noise[lane], more));
    }
  }
}

template <class Grey>
void develop(const Execution& execution, const FrameRules& rules, const std::vector<Spot>& spots,
             std::vector<Grey>& voxels) {
  const Tiles tiles(rules, spots);
  const int threads = static_cast<int>(std::min<std::int64_t>(thread_count(execution), tiles.count()));
  std::vector<std::vector<float>> lights(static_cast<std::size_t>(threads));
  parallel_for(threads, tiles.count(), [&](std::int64_t tile) {
    std::vector<float>& light = lights[static_cast<std::size_t>(omp_get_thread_num())];
    light.assign(static_cast<std::size_t>(tiles.most_voxels()), 0.0F);
    const Reach planes = tiles.planes(tile), rows = tiles.rows(tile);
    detail::add_light(rules, spots, tiles.spots(tile), planes, rows, light.data());
    const float* row = light.data();
    for (std::int64_t z = planes.first; z < planes.last; ++z)
      for (std::int64_t y = rows.first; y < rows.last; ++y, row += rules.nx)
        develop_row(rules, z, y, row, voxels.data() + (z * rules.ny + y) * rules.nx);
  });
}

/// Copies the device's grey levels to the frame.
template <class Grey>
void copy_out(const Execution& execution, const std::uint16_t* grey, std::vector<Grey>& voxels) {
  constexpr std::int64_t kChunk = 1 << 20;
  const auto count = static_cast<std::int64_t>(voxels.size());
  parallel_for(thread_count(execution), (count + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t first = chunk * kChunk, last = std::min(count, first + kChunk);
    std::transform(grey + first, grey + last, voxels.begin() + first,
                   [](std::uint16_t level) { return static_cast<Grey>(level); });
  });
}

/// The voxels of the recycled frame if they have the right type, else new ones.
template <class Grey>
std::vector<Grey> voxels_from(VolumeFrame& recycled, const Shape3& shape) {
  std::vector<Grey> voxels;
  if (auto* old = std::get_if<std::vector<Grey>>(&recycled.voxels)) voxels = std::move(*old);
  voxels.resize(static_cast<std::size_t>(shape.voxels()));
  return voxels;
}

/// For smaller frames the CPU is faster than setting up a device.
constexpr std::int64_t kLeastDeviceVoxels = 1 << 20;

}  // namespace

struct Renderer::State {
  State(const Execution& wanted, const MotionOptions& motion, const ImagingOptions& imaging)
      : execution(wanted), scene(wanted, motion, imaging) {
    if (execution.backend == Backend::cpu) return;
    const std::string missing = detail::why_no_device();
    if (execution.backend == Backend::cuda && !missing.empty())
      throw ResourceError("execution.backend: no GPU: " + missing + "; use execution.backend: auto or cpu");
    if (missing.empty() && (execution.backend == Backend::cuda || scene.shape.voxels() >= kLeastDeviceVoxels))
      device = std::make_unique<detail::DeviceRenderer>(scene, execution.device);
  }

  template <class Grey>
  std::vector<Grey> render(const std::vector<Spot>& spots, std::int32_t t, VolumeFrame& recycled);

  Execution execution;
  Scene scene;
  std::unique_ptr<detail::DeviceRenderer> device;
  RenderTimes times;
};

Renderer::Renderer(const Execution& execution, const MotionOptions& motion, const ImagingOptions& imaging)
    : state_(std::make_unique<State>(execution, motion, imaging)) {}
Renderer::~Renderer() = default;
Renderer::Renderer(Renderer&&) noexcept = default;
Renderer& Renderer::operator=(Renderer&&) noexcept = default;

bool Renderer::on_device() const { return state_->device != nullptr; }
const RenderTimes& Renderer::times() const { return state_->times; }

template <class Grey>
std::vector<Grey> Renderer::State::render(const std::vector<Spot>& spots, std::int32_t t,
                                          VolumeFrame& recycled) {
  std::vector<Grey> voxels = voxels_from<Grey>(recycled, scene.shape);
  if (device) {
    const std::uint16_t* grey = device->render(t, spots, times);
    const auto start = std::chrono::steady_clock::now();
    copy_out(execution, grey, voxels);
    times.unpin_s = seconds_since(start);
  } else {
    develop(execution, scene.rules(t), spots, voxels);
  }
  return voxels;
}

VolumeFrame Renderer::render(const TrackSet& truth, std::int32_t t, VolumeFrame recycled) {
  State& s = *state_;
  const auto start = std::chrono::steady_clock::now();
  s.times = {};
  const std::vector<Spot> spots = s.scene.spots(s.execution, truth, t);
  s.times.prepare_s = seconds_since(start);
  VolumeFrame frame;
  frame.index = t;
  frame.time_s = t * s.scene.motion.dt_s;
  frame.shape = s.scene.shape;
  frame.voxel_um = s.scene.imaging.voxel_um;
  if (s.scene.imaging.bit_depth == 8) {
    frame.voxels = s.render<std::uint8_t>(spots, t, recycled);
  } else {
    frame.voxels = s.render<std::uint16_t>(spots, t, recycled);
  }
  s.times.total_s = seconds_since(start);
  return frame;
}

std::vector<float> Renderer::expected_photons(const TrackSet& truth, std::int32_t t) const {
  const Scene& scene = state_->scene;
  const FrameRules rules = scene.rules(t);
  const std::vector<Spot> spots = scene.spots(state_->execution, truth, t);
  std::vector<std::uint32_t> all;
  for (std::size_t n = 0; n < spots.size(); ++n) all.push_back(static_cast<std::uint32_t>(n));
  std::vector<float> light(static_cast<std::size_t>(scene.shape.voxels()));
  detail::add_light(rules, spots, all, {0, rules.nz}, {0, rules.ny}, light.data());
  return light;
}

VolumeFrame render_frame(const Execution& execution, const TrackSet& truth, std::int32_t t,
                         const MotionOptions& motion, const ImagingOptions& imaging) {
  return Renderer(execution, motion, imaging).render(truth, t);
}

void add_appearance(const Execution& execution, TrackSet& truth, const MotionOptions& motion,
                    const ImagingOptions& imaging) {
  const Scene scene(execution, motion, imaging);
  const auto wanted = [&](const char* name) {
    return std::none_of(truth.point_properties.begin(), truth.point_properties.end(),
                        [&](const PropertyColumn& column) { return column.name == name; });
  };
  const bool photons_wanted = wanted(kPhotonsProperty), radius_wanted = wanted(kRadiusProperty);
  PropertyColumn photons{kPhotonsProperty, {}}, radius{kRadiusProperty, {}};
  if (photons_wanted) photons.values.resize(truth.points());
  if (radius_wanted) radius.values.resize(truth.points());
  constexpr std::int64_t kChunk = 256;
  const auto tracks = static_cast<std::int64_t>(truth.tracks());
  parallel_for(thread_count(execution), (tracks + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
    const std::int64_t last = std::min(tracks, (chunk + 1) * kChunk);
    for (auto track = static_cast<std::size_t>(chunk * kChunk); track < static_cast<std::size_t>(last);
         ++track)
      for (auto p = static_cast<std::size_t>(truth.track_offsets[track]);
           p < static_cast<std::size_t>(truth.track_offsets[track + 1]); ++p) {
        const double time_s = std::isfinite(truth.time_s[p]) ? truth.time_s[p] : truth.frame[p] * motion.dt_s;
        const detail::Appearance look = detail::appearance(scene, truth.track_id[track], time_s);
        if (photons_wanted) photons.values[p] = look.photons;
        if (radius_wanted) radius.values[p] = look.radius_um;
      }
  });
  if (photons_wanted) truth.point_properties.push_back(std::move(photons));
  if (radius_wanted) truth.point_properties.push_back(std::move(radius));
}

double peak_for_snr(double snr, double background) {
  // p = snr * sqrt(p + b) is a quadratic in p with one positive root.
  return 0.5 * snr * (snr + std::sqrt(snr * snr + 4 * background));
}

SpotLight spot_light(const MotionOptions& motion, const ImagingOptions& imaging) {
  return Scene({}, motion, imaging).light;
}

Shape3 frame_shape(const MotionOptions& motion, const ImagingOptions& imaging) {
  // 12.8 / 0.1 must count as 128, although both numbers are not exact in binary.
  const auto count = [](double length, double voxel) {
    return static_cast<std::int64_t>(std::floor(length / voxel * (1 + 1e-12))) + 1;
  };
  return {count(motion.box_um.z, imaging.voxel_um.z), count(motion.box_um.y, imaging.voxel_um.y),
          count(motion.box_um.x, imaging.voxel_um.x)};
}

}  // namespace motes::sim
