#pragma once
/// What gallery pictures are made of: places, light, noise, and what is done to the voxels afterwards.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "tests/support/spots.h"

namespace motes::testing {

using Field = std::vector<double>;

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double normal() {
    const double u = std::max(uniform(), 1e-300), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  double poisson(double mean) {
    if (mean > 200) return std::max(0.0, std::round(mean + std::sqrt(mean) * normal()));
    double count = 0;
    for (; mean > 0; mean -= 30) {
      const double limit = std::exp(-std::min(mean, 30.0));
      for (double product = uniform(); product > limit; product *= uniform()) ++count;
    }
    return count;
  }

 private:
  std::mt19937_64 bits_;
};

/// A picture in the making.
struct Scene {
  Shape3 shape;
  Vec3 sigma{1.5, 1.5, 1.5};
  double background = 20, peak = 0;
  std::vector<Spot> spots;
  std::vector<double> brightness;  ///< of each spot, in peaks
  std::vector<double> width;       ///< of each spot, in sigmas
  Field light;
  bool dark = false;
};

std::size_t at(const Shape3& s, std::int64_t z, std::int64_t y, std::int64_t x);

template <class Body>
void each_voxel(const Shape3& s, const Body& body) {
  std::size_t i = 0;
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y)
      for (std::int64_t x = 0; x < s.nx; ++x, ++i)
        body(i, static_cast<double>(z), static_cast<double>(y), static_cast<double>(x));
}

/// Random places `margin` sigmas off the faces and at least `apart` sigmas from each other.
std::vector<Spot> places(const Shape3& s, const Vec3& sigma, int count, double margin, double apart,
                         Random& random);

Field smoothed(const Field& field, const Shape3& s, const Vec3& sigma);

/// A random field of deviation 1 and correlation length `sigma`.
Field texture(const Shape3& s, const Vec3& sigma, Random& random);

void draw_spots(Scene& scene);

/// A Poisson draw of every voxel.
Field photons(const Field& light, Random& random);
Voxels stored(const Field& values);
Field plus(Field values, double offset);

Field median_filtered(const Field& field, const Shape3& s);

/// Blocks of 8 x 8 in each plane, their cosine coefficients rounded to multiples of steps that grow with
/// frequency, as JPEG does.
Field block_compressed(const Field& field, const Shape3& s, double step);

/// Richardson-Lucy with the spots' own Gaussian.
Field deconvolved(const Field& field, const Shape3& s, const Vec3& sigma, int rounds);

/// Every third plane taken, those between filled in linearly.
Field z_interpolated(const Field& field, const Shape3& s);

}  // namespace motes::testing
