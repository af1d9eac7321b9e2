/// Frames with Gaussian spots at known positions, and scores of detections in them.

#include "tests/support/spots.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace motes::testing {
namespace {

struct Span {
  std::int64_t first = 0;
  std::vector<double> factors;
};

Span profile(double centre, double sigma, std::int64_t n) {
  const auto reach = static_cast<std::int64_t>(std::ceil(5 * sigma));
  const auto middle = static_cast<std::int64_t>(std::lround(centre));
  Span span{std::max<std::int64_t>(0, middle - reach), {}};
  for (std::int64_t i = span.first; i <= std::min(n - 1, middle + reach); ++i) {
    const double u = (static_cast<double>(i) - centre) / sigma;
    span.factors.push_back(std::exp(-0.5 * u * u));
  }
  return span;
}

double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Knuth's product of uniforms, in pieces of mean 30 so that exp(-mean) does not underflow.
std::uint16_t poisson(std::mt19937_64& random, double mean) {
  int count = 0;
  while (mean > 0) {
    const double limit = std::exp(-std::min(mean, 30.0));
    for (double product = uniform(random); product > limit; product *= uniform(random)) ++count;
    mean -= 30;
  }
  return static_cast<std::uint16_t>(std::min(count, 65535));
}

}  // namespace

std::vector<Spot> random_spots(const Shape3& shape, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto along = [&](std::int64_t n) { return uniform(random) * static_cast<double>(n - 1); };
  std::vector<Spot> spots(static_cast<std::size_t>(count));
  for (Spot& spot : spots) {
    spot.z = along(shape.nz);
    spot.y = along(shape.ny);
    spot.x = along(shape.nx);
  }
  return spots;
}

std::vector<double> expected_photons(const SpotFrameOptions& options, const std::vector<Spot>& spots) {
  const Shape3& shape = options.shape;
  std::vector<double> photons(static_cast<std::size_t>(shape.voxels()), options.background);
  for (const Spot& spot : spots) {
    const Span in_z = profile(spot.z, options.psf_sigma.z, shape.nz);
    const Span in_y = profile(spot.y, options.psf_sigma.y, shape.ny);
    const Span in_x = profile(spot.x, options.psf_sigma.x, shape.nx);
    for (std::size_t k = 0; k < in_z.factors.size(); ++k) {
      for (std::size_t j = 0; j < in_y.factors.size(); ++j) {
        const std::int64_t z = in_z.first + static_cast<std::int64_t>(k);
        const std::int64_t y = in_y.first + static_cast<std::int64_t>(j);
        double* row = &photons[static_cast<std::size_t>((z * shape.ny + y) * shape.nx + in_x.first)];
        const double factor = options.peak * in_z.factors[k] * in_y.factors[j];
        for (std::size_t i = 0; i < in_x.factors.size(); ++i) row[i] += factor * in_x.factors[i];
      }
    }
  }
  return photons;
}

VolumeFrame float_frame(const Shape3& shape, const std::vector<double>& values) {
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::vector<float>(values.begin(), values.end());
  return frame;
}

VolumeFrame poisson_frame(const Shape3& shape, const std::vector<double>& expected, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint16_t> voxels;
  voxels.reserve(expected.size());
  for (const double mean : expected) voxels.push_back(poisson(random, mean));
  VolumeFrame frame;
  frame.shape = shape;
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::move(voxels);
  return frame;
}

double peak_of_snr(double snr, double background) {
  const double s2 = snr * snr;
  return 0.5 * (s2 + std::sqrt(s2 * s2 + 4 * s2 * background));
}

SpotScore score_spots(const std::vector<Spot>& truth, const Detections& found, const Vec3& voxel_um,
                      double gate) {
  struct Pair {
    double distance;
    std::size_t t, f;
  };
  std::vector<Pair> pairs;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    for (std::size_t f = 0; f < found.size(); ++f) {
      const double dz = found.z_um[f] / voxel_um.z - truth[t].z;
      const double dy = found.y_um[f] / voxel_um.y - truth[t].y;
      const double dx = found.x_um[f] / voxel_um.x - truth[t].x;
      const double distance = std::sqrt(dz * dz + dy * dy + dx * dx);
      if (distance < gate) pairs.push_back({distance, t, f});
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  std::vector<bool> truth_taken(truth.size()), found_taken(found.size());
  SpotScore score;
  double sum = 0;
  for (const Pair& pair : pairs) {
    if (truth_taken[pair.t] || found_taken[pair.f]) continue;
    truth_taken[pair.t] = found_taken[pair.f] = true;
    ++score.matched;
    sum += pair.distance * pair.distance;
  }
  const double all = static_cast<double>(truth.size() + found.size()) - score.matched;
  score.jsc = all > 0 ? score.matched / all : 1;
  score.rmse_voxel = score.matched > 0 ? std::sqrt(sum / score.matched) : 0;
  return score;
}

}  // namespace motes::testing
