#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/sim/imaging.h>

#include "sim/imaging/photon_table.h"
#include "tests/sim/imaging_cases.h"

using namespace motes;
using namespace motes::sim;
using namespace motes::testing;

namespace {

std::int32_t photons(const detail::PhotonTables& tables, float signal, std::uint32_t word,
                     std::mt19937_64& random) {
  return detail::photons_of(view_of(tables), signal, word,
                            [&](std::uint32_t) { return static_cast<std::uint32_t>(random()); });
}

struct Moments {
  double mean = 0, variance = 0, count = 0;
};

template <class Values>
Moments moments_of(const Values& values) {
  Moments m;
  m.count = static_cast<double>(values.size());
  for (const auto v : values) m.mean += static_cast<double>(v) / m.count;
  for (const auto v : values) m.variance += std::pow(static_cast<double>(v) - m.mean, 2) / m.count;
  return m;
}

VolumeFrame dark_frame(const ImagingOptions& imaging) {
  return render_frame({2, Backend::cpu}, {}, 0, small_box(), imaging);
}

}  // namespace

TEST_CASE("photon numbers invert the Poisson distribution of any mean up to the fine tables' end") {
  const double background = GENERATE(0.0, 0.3, 10.0, 300.0);
  const detail::PhotonTables tables(background, 1000);
  std::mt19937_64 random(1);
  // A signal has 24 bits: exactly representable ones leave the mean without rounding.
  const float signal = GENERATE(0.0F, 0x1p-20F, 0.0625F, 0.124F, 0.125F, 1.34F, 5.75F, 7.9F);
  const double mean = background + static_cast<double>(signal);
  CAPTURE(background, signal);
  constexpr std::uint32_t kStep = 65521;
  std::int64_t wrong = 0, k = 0;
  long double summed = mean > 0 ? std::exp(-static_cast<long double>(mean)) : 1;
  for (std::uint64_t word = 17; word < (std::uint64_t{1} << 32); word += kStep) {
    const std::int32_t found = photons(tables, signal, static_cast<std::uint32_t>(word), random);
    // The number k is right where P(< k) <= word / 2^32 < P(<= k), give or take the tables' rounding.
    const long double u = (static_cast<long double>(word) + 0.5L) * 0x1p-32L;
    while (summed < u - 0x1p-30L && k < 100000) {
      ++k;
      summed += std::exp(static_cast<long double>(k) * std::log(static_cast<long double>(mean)) - mean -
                         std::lgamma(static_cast<long double>(k) + 1));
    }
    const bool near = std::abs(summed - u) < 0x1p-29L;
    if (found != k && !(near && found == k + 1)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("photon numbers of bright voxels have the mean and variance asked for") {
  const float signal = GENERATE(64.0F, 127.5F, 1000.0F, 20000.3F);
  const detail::PhotonTables tables(10, 65536);
  std::mt19937_64 random(7);
  std::vector<std::int32_t> values;
  for (int i = 0; i < 200000; ++i)
    values.push_back(photons(tables, signal, static_cast<std::uint32_t>(random()), random));
  const double mean = 10 + static_cast<double>(signal);
  const Moments m = moments_of(values);
  CAPTURE(signal);
  CHECK(m.mean == Approx(mean).margin(5 * std::sqrt(mean / m.count)));
  CHECK(m.variance == Approx(mean).epsilon(5 * std::sqrt(2 / m.count)));
  // Beyond what any camera holds, numbers stay large instead of wrapping.
  CHECK(photons(tables, 1e30F, 5, random) > 65536);
  CHECK(photons(tables, std::numeric_limits<float>::infinity(), 5, random) > 65536);
}

TEST_CASE("read noise is normal to the tails") {
  detail::InversionTables tables(12);
  tables.add_normal(256);
  std::vector<double> values;
  std::int64_t beyond3 = 0;
  constexpr std::uint32_t kStep = 32749;
  for (std::uint64_t word = 3; word < (std::uint64_t{1} << 32); word += kStep) {
    values.push_back(detail::find_number(view_of(tables), 0, static_cast<std::uint32_t>(word)) / 256.0);
    if (std::abs(values.back()) > 3) ++beyond3;
  }
  const Moments m = moments_of(values);
  CHECK(m.mean == Approx(0).margin(1e-4));
  CHECK(m.variance == Approx(1).epsilon(1e-3));
  CHECK(static_cast<double>(beyond3) / m.count == Approx(0.0027).epsilon(0.02));
  CHECK(detail::find_number(view_of(tables), 0, 0) < -6 * 256);
  CHECK(detail::find_number(view_of(tables), 0, 0xFFFFFFFF) > 6 * 256);
}

TEST_CASE("gain, offset and read noise make grey levels of photons") {
  ImagingOptions imaging;
  imaging.background = 50;
  imaging.gain = GENERATE(0.5, 1.0, 3.7);
  imaging.read_noise = GENERATE(0.0, 5.0);
  const Moments m = moments_of(voxels_of(dark_frame(imaging)));
  const double rounding = imaging.gain == 1 && imaging.read_noise == 0 ? 0 : 1.0 / 12;
  const double variance =
      imaging.gain * imaging.gain * 50 + imaging.read_noise * imaging.read_noise + rounding;
  CAPTURE(imaging.gain, imaging.read_noise);
  // Halves are rounded up: with a gain of one half every other photon number is one.
  CHECK(m.mean - imaging.offset ==
        Approx(50 * imaging.gain + (imaging.gain == 0.5 && imaging.read_noise == 0 ? 0.25 : 0))
            .margin(4 * std::sqrt(variance / m.count)));
  CHECK(m.variance == Approx(variance).epsilon(0.03));
}

TEST_CASE("each bit depth saturates at its largest grey level, and has its voxel type") {
  ImagingOptions imaging;
  imaging.bit_depth = GENERATE(8, 12, 16);
  imaging.photons = 1e8;
  const VolumeFrame frame = render_frame({1, Backend::cpu}, spots_at({{2, 1.5, 2}}), 0, small_box(), imaging);
  CAPTURE(imaging.bit_depth);
  if (imaging.bit_depth == 8) {
    const auto& voxels = std::get<std::vector<std::uint8_t>>(frame.voxels);
    CHECK(*std::max_element(voxels.begin(), voxels.end()) == 255);
    CHECK(*std::min_element(voxels.begin(), voxels.end()) < 130);
  } else {
    CHECK(*std::max_element(voxels_of(frame).begin(), voxels_of(frame).end()) ==
          (1 << imaging.bit_depth) - 1);
  }
}

TEST_CASE("eight bits hold the same grey levels as sixteen where they fit") {
  ImagingOptions imaging;
  imaging.photons = 500;
  imaging.background = 5;
  imaging.offset = 20;
  const TrackSet truth = spots_at({{2, 1.5, 2}, {1, 1, 1}});
  const VolumeFrame wide = render_frame({1, Backend::cpu}, truth, 0, small_box(), imaging);
  imaging.bit_depth = 8;
  const VolumeFrame narrow = render_frame({1, Backend::cpu}, truth, 0, small_box(), imaging);
  const auto& bytes = std::get<std::vector<std::uint8_t>>(narrow.voxels);
  CHECK(std::equal(bytes.begin(), bytes.end(), voxels_of(wide).begin(), voxels_of(wide).end()));
}

TEST_CASE("spots bleach exponentially, the background does not") {
  ImagingOptions imaging;
  imaging.photons = 1e4;
  imaging.bleaching_s = 5.0;
  imaging.background = 2;
  MotionOptions motion = small_box();
  motion.particles = 1;
  motion.frames = 11;
  motion.speed_um_s = 0;
  TrackSet truth = simulate_motion({1}, motion);
  for (std::size_t p = 0; p < truth.points(); ++p) {
    truth.x_um[p] = 2;
    truth.y_um[p] = 1.5;
    truth.z_um[p] = 2;
  }
  for (const std::int32_t t : {0, 1, 5, 10}) {
    const double asked = 1e4 * std::exp(-t / 5.0);
    CHECK(sum_of(expected(truth, motion, imaging, t)) == Approx(asked).epsilon(1e-3));
    const auto frame = render_frame({1, Backend::cpu}, truth, t, motion, imaging);
    const Moments m = moments_of(voxels_of(frame));
    const double photons_found = m.count * (m.mean - imaging.offset - 2);
    CHECK(photons_found == Approx(asked).margin(5 * std::sqrt(asked + 2 * m.count)));
  }
}
