/// A fluorescence volume of one frame, slab by slab of a few planes.
///
/// A slab's expected signal is summed in a float buffer: every spot that reaches the slab adds its Gaussian,
/// in the order of the particles, so that the sums do not depend on which thread renders which slab. Then
/// each voxel gets its photons: a Poisson number of the background's mean, by table, from the random words of
/// the voxel's number; plus, only where there is signal, a Poisson number of the signal's mean. The sum of
/// two Poisson numbers is the Poisson number of the summed means, so this is exact, and dark voxels stay
/// cheap.
///
/// The Gaussian is separable: its integral over a voxel is a product of three differences of error functions,
/// computed per spot and axis. It is scaled so that a spot exactly on a voxel centre gives that voxel the
/// peak that the SNR asks for; elsewhere the brightest voxel is a little darker, as in a real image.

#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "sim/detail/photon_table.h"
#include "sim/imaging.h"
#include "sim/random.h"
#include "tracking/types/errors.h"

namespace motes::sim {
namespace {

constexpr std::int64_t kSlabPlanes = 4;
constexpr double kCutoffSigmas = 4;
constexpr float kSaturated = 1e6F;  // photons far beyond the largest grey level

/// A range of voxels [first, first + weight.size()) along one axis, and the spot's share in each.
struct AxisProfile {
  std::int64_t first = 0;
  std::vector<double> weight;    ///< integral over the voxel, 1 for a voxel centred on the spot
  std::vector<double> distance;  ///< of the voxel's centre, in sigmas
};

/// One axis of the image: voxel edge, spot width and the voxels to be filled, [begin, end).
struct Axis {
  double voxel_um, sigma_um;
  std::int64_t begin, end;

  std::pair<std::int64_t, std::int64_t> reach(double at_um) const {
    const double reach_um = kCutoffSigmas * sigma_um;
    const auto clamped = [&](double voxel) {
      return static_cast<std::int64_t>(
          std::clamp(voxel, static_cast<double>(begin), static_cast<double>(end)));
    };
    return {clamped(std::ceil((at_um - reach_um) / voxel_um)),
            clamped(std::floor((at_um + reach_um) / voxel_um) + 1)};
  }

  void profile(double at_um, AxisProfile& out) const {
    const double scale = 1 / (sigma_um * std::numbers::sqrt2);
    const double centred = 2 * std::erf(0.5 * voxel_um * scale);
    const auto [first, last] = reach(at_um);
    out.first = first;
    out.weight.clear();
    out.distance.clear();
    if (first >= last) return;
    double lower = std::erf(((static_cast<double>(first) - 0.5) * voxel_um - at_um) * scale);
    for (std::int64_t i = first; i < last; ++i) {
      const double upper = std::erf(((static_cast<double>(i) + 0.5) * voxel_um - at_um) * scale);
      out.weight.push_back((upper - lower) / centred);
      out.distance.push_back((static_cast<double>(i) * voxel_um - at_um) / sigma_um);
      lower = upper;
    }
  }
};

/// What one thread needs to render one slab; allocated once.
struct Workspace {
  std::vector<float> signal;  ///< [planes * ny * nx] expected photons
  AxisProfile x, y, z;
};

std::vector<Vec3> spots_of_frame(const TrackSet& truth, std::int32_t t) {
  std::vector<Vec3> spots;
  for (std::size_t track = 0; track < truth.tracks(); ++track) {
    const auto begin = truth.frame.begin() + truth.track_offsets[track];
    const auto end = truth.frame.begin() + truth.track_offsets[track + 1];
    const auto found = std::lower_bound(begin, end, t);
    if (found == end || *found != t) continue;
    const auto point = static_cast<std::size_t>(found - truth.frame.begin());
    const Vec3 spot{truth.x_um[point], truth.y_um[point], truth.z_um[point]};
    if (!std::isfinite(spot.x + spot.y + spot.z))
      throw InputError("truth: track " + std::to_string(truth.track_id[track]) +
                       " has no finite position in frame " + std::to_string(t) + "; remove that point");
    spots.push_back(spot);
  }
  return spots;
}

class Renderer {
 public:
  Renderer(const TrackSet& truth, std::int32_t t, const MotionOptions& motion, const ImagingOptions& imaging)
      : imaging_(imaging),
        shape_(frame_shape(motion, imaging)),
        seed_(motion.seed),
        frame_(static_cast<std::uint32_t>(t)),
        peak_(peak_for_snr(imaging.snr, imaging.background)),
        background_(imaging.background),
        spots_(spots_of_frame(truth, t)) {
    bin_spots();
  }

  std::int64_t slabs() const { return (shape_.nz + kSlabPlanes - 1) / kSlabPlanes; }

  Workspace workspace() const {
    Workspace work;
    work.signal.resize(static_cast<std::size_t>(kSlabPlanes * shape_.ny * shape_.nx));
    for (auto [profile, axis] : {std::pair{&work.x, x_axis()}, {&work.y, y_axis()}, {&work.z, z_axis(0)}}) {
      const double most = std::min(2 * kCutoffSigmas * axis.sigma_um / axis.voxel_um + 2,
                                   static_cast<double>(axis.end - axis.begin));
      profile->weight.reserve(static_cast<std::size_t>(most));
      profile->distance.reserve(static_cast<std::size_t>(most));
    }
    return work;
  }

  /// Fills the slab's voxels of the whole frame's array.
  void render(std::int64_t slab, Workspace& work, std::vector<std::uint16_t>& voxels) const {
    add_spots(slab, work);
    const std::int64_t plane = shape_.ny * shape_.nx;
    const std::int64_t begin = slab * kSlabPlanes * plane;
    const std::int64_t end = std::min((slab + 1) * kSlabPlanes, shape_.nz) * plane;
    // Four voxels share a block of random words; a block that crosses two slabs is computed for both.
    for (std::int64_t block = begin / 4; block * 4 < end; ++block) {
      const auto number = static_cast<std::uint32_t>(block);
      const auto words = random_block(seed_, Stream::background, number, frame_);
      std::array<double, 4> noise{};
      if (imaging_.read_noise > 0) noise = read_noise(number);
      for (std::int64_t i = std::max(begin, block * 4); i < std::min(end, block * 4 + 4); ++i) {
        const auto w = static_cast<std::size_t>(i - block * 4);
        const float signal = work.signal[static_cast<std::size_t>(i - begin)];
        std::int64_t photons = background_.photons(words[w]);
        if (signal > 0)
          photons += Random(seed_, Stream::photons, static_cast<std::uint32_t>(i), frame_)
                         .poisson(std::min(signal, kSaturated));
        const double grey = std::floor(static_cast<double>(photons) + imaging_.offset + noise[w] + 0.5);
        voxels[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(std::clamp(grey, 0.0, 65535.0));
      }
    }
  }

 private:
  Axis x_axis() const { return {imaging_.voxel_um.x, imaging_.psf_sigma_um.x, 0, shape_.nx}; }
  Axis y_axis() const { return {imaging_.voxel_um.y, imaging_.psf_sigma_um.y, 0, shape_.ny}; }
  Axis z_axis(std::int64_t slab) const {
    return {imaging_.voxel_um.z, imaging_.psf_sigma_um.z, slab * kSlabPlanes,
            std::min((slab + 1) * kSlabPlanes, shape_.nz)};
  }

  /// Lists the spots that reach each slab, in the order of the particles (count, offsets, fill).
  void bin_spots() {
    const Axis whole{imaging_.voxel_um.z, imaging_.psf_sigma_um.z, 0, shape_.nz};
    const auto for_each_slab = [&](const Vec3& spot, auto&& act) {
      const auto [first, last] = whole.reach(spot.z);
      if (first >= last) return;
      for (std::int64_t s = first / kSlabPlanes; s <= (last - 1) / kSlabPlanes; ++s)
        act(static_cast<std::size_t>(s));
    };
    slab_offsets_.assign(static_cast<std::size_t>(slabs()) + 1, 0);
    for (const Vec3& spot : spots_) for_each_slab(spot, [&](std::size_t s) { ++slab_offsets_[s + 1]; });
    for (std::size_t s = 1; s < slab_offsets_.size(); ++s) slab_offsets_[s] += slab_offsets_[s - 1];
    slab_spots_.resize(slab_offsets_.back());
    std::vector<std::size_t> next(slab_offsets_.begin(), slab_offsets_.end() - 1);
    for (std::size_t i = 0; i < spots_.size(); ++i)
      for_each_slab(spots_[i], [&](std::size_t s) { slab_spots_[next[s]++] = i; });
  }

  void add_spots(std::int64_t slab, Workspace& work) const {
    std::fill(work.signal.begin(), work.signal.end(), 0.0F);
    const Axis x = x_axis(), y = y_axis(), z = z_axis(slab);
    const auto s = static_cast<std::size_t>(slab);
    for (std::size_t n = slab_offsets_[s]; n < slab_offsets_[s + 1]; ++n) {
      const Vec3& spot = spots_[slab_spots_[n]];
      x.profile(spot.x, work.x);
      y.profile(spot.y, work.y);
      z.profile(spot.z, work.z);
      add_spot(z.begin, work);
    }
  }

  /// Adds the product of the three profiles inside the ellipsoid of kCutoffSigmas.
  void add_spot(std::int64_t first_plane, Workspace& work) const {
    constexpr double kCutoff2 = kCutoffSigmas * kCutoffSigmas;
    for (std::size_t k = 0; k < work.z.weight.size(); ++k) {
      for (std::size_t j = 0; j < work.y.weight.size(); ++j) {
        const double left2 =
            kCutoff2 - work.z.distance[k] * work.z.distance[k] - work.y.distance[j] * work.y.distance[j];
        const double row = peak_ * work.z.weight[k] * work.y.weight[j];
        const std::int64_t plane = work.z.first - first_plane + static_cast<std::int64_t>(k);
        const std::int64_t start =
            (plane * shape_.ny + work.y.first + static_cast<std::int64_t>(j)) * shape_.nx;
        float* out = work.signal.data() + start + work.x.first;
        for (std::size_t i = 0; i < work.x.weight.size(); ++i)
          if (work.x.distance[i] * work.x.distance[i] <= left2)
            out[i] += static_cast<float>(row * work.x.weight[i]);
      }
    }
  }

  /// Four normal numbers (Box-Muller, both halves), scaled to grey levels.
  std::array<double, 4> read_noise(std::uint32_t block) const {
    const auto words = random_block(seed_, Stream::camera, block, frame_);
    std::array<double, 4> noise{};
    for (std::size_t pair = 0; pair < 4; pair += 2) {
      const double u = (words[pair] + 0.5) * 0x1p-32;
      const double angle = 2 * std::numbers::pi * words[pair + 1] * 0x1p-32;
      const double radius = imaging_.read_noise * std::sqrt(-2 * std::log(u));
      noise[pair] = radius * std::cos(angle);
      noise[pair + 1] = radius * std::sin(angle);
    }
    return noise;
  }

  const ImagingOptions& imaging_;
  Shape3 shape_;
  std::uint64_t seed_;
  std::uint32_t frame_;
  double peak_;
  detail::PhotonTable background_;
  std::vector<Vec3> spots_;
  std::vector<std::size_t> slab_offsets_, slab_spots_;
};

}  // namespace

double peak_for_snr(double snr, double background) {
  // p = snr * sqrt(p + b) is a quadratic in p with one positive root.
  return 0.5 * snr * (snr + std::sqrt(snr * snr + 4 * background));
}

Shape3 frame_shape(const MotionOptions& motion, const ImagingOptions& imaging) {
  // 12.8 / 0.1 must count as 128 although neither number is exact in binary.
  const auto count = [](double length, double voxel) {
    return static_cast<std::int64_t>(std::floor(length / voxel * (1 + 1e-12))) + 1;
  };
  return {count(motion.box_um.z, imaging.voxel_um.z), count(motion.box_um.y, imaging.voxel_um.y),
          count(motion.box_um.x, imaging.voxel_um.x)};
}

VolumeFrame render_frame(const Execution& execution, const TrackSet& truth, std::int32_t t,
                         const MotionOptions& motion, const ImagingOptions& imaging) {
  check_options(motion, imaging);
  const Renderer renderer(truth, t, motion, imaging);
  VolumeFrame frame;
  frame.index = t;
  frame.time_s = t * motion.dt_s;
  frame.shape = frame_shape(motion, imaging);
  frame.voxel_um = imaging.voxel_um;
  std::vector<std::uint16_t> voxels(static_cast<std::size_t>(frame.shape.voxels()));
  // Everything is allocated out here: nothing can throw inside the parallel region.
  const auto threads = static_cast<int>(std::min<std::int64_t>(thread_count(execution), renderer.slabs()));
  std::vector<Workspace> work;
  for (int thread = 0; thread < threads; ++thread) work.push_back(renderer.workspace());
#pragma omp parallel num_threads(threads)
  {
    Workspace& mine = work[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::int64_t slab = 0; slab < renderer.slabs(); ++slab) renderer.render(slab, mine, voxels);
  }
  frame.voxels = std::move(voxels);
  return frame;
}

}  // namespace motes::sim
