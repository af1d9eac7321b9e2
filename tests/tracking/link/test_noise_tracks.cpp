// Tracks that score like noise are distinguished from short tracks of particles.

#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include <motes/tracking/noise_tracks.h>

using namespace motes;
using namespace motes::tracking;

namespace {

/// Tracks of two to nine points, then single particles, then single spots of noise, with their scores.
struct Made {
  TrackSet tracks;
  std::size_t particles = 0;  ///< tracks before the noise
  std::mt19937_64 frames{1};
  /// A track that begins in a random one of 50 frames.
  void add(const std::vector<double>& scores) {
    const int length = static_cast<int>(scores.size());
    int frame = std::uniform_int_distribution<>(0, 50 - length)(frames);
    for (const double score : scores) {
      tracks.frame.push_back(frame++);
      tracks.point_properties[0].values.push_back(score);
    }
    tracks.track_id.push_back(static_cast<std::int64_t>(tracks.track_id.size()));
    tracks.track_offsets.push_back(tracks.track_offsets.back() + static_cast<std::int64_t>(scores.size()));
  }
};

Made made(int long_ones, int single, int noise, double particle, std::uint64_t seed, double fall = 1 / 3.0) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<> bright(particle, 1.2);
  std::exponential_distribution<> excess(1 / fall);
  Made out;
  out.tracks.point_properties.push_back({"score", {}});
  for (int k = 0; k < long_ones; ++k) {
    std::vector<double> scores(static_cast<std::size_t>(2 + k % 8));
    for (double& score : scores) score = bright(rng);
    out.add(scores);
  }
  for (int k = 0; k < single; ++k) out.add({bright(rng)});
  out.particles = out.tracks.tracks();
  for (int k = 0; k < noise; ++k) out.add({4 + excess(rng)});
  return out;
}

std::int64_t marked(const std::vector<char>& marks, std::size_t begin, std::size_t end) {
  return std::accumulate(marks.begin() + static_cast<std::ptrdiff_t>(begin),
                         marks.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{0});
}

}  // namespace

TEST_CASE("single spots that score like noise are found, single particles are not") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const double particle : {8.0, 10.0, 20.0})
      for (const int noise : {20, 200}) {
        const Made it = made(100, 30, noise, particle, seed);
        const std::vector<char> marks = noise_tracks(it.tracks);
        INFO("particles at " << particle << ", noise " << noise << ", seed " << seed);
        CHECK(marked(marks, 0, 100) == 0);
        CHECK(marked(marks, 100, it.particles) <= 2);
        CHECK(marked(marks, it.particles, marks.size()) >= 0.75 * noise);
      }
}

TEST_CASE("noise that scores like weak particles is told by the number of single spots") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Made it = made(300, 40, 400, 7, seed, 1.5);
    const std::vector<char> marks = noise_tracks(it.tracks);
    INFO("seed " << seed);
    CHECK(marked(marks, it.particles, marks.size()) >= 0.75 * 400);
  }
}

TEST_CASE("particles that most tracks do not resemble, seen only once, are not taken for noise") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const int noise : {20, 100}) {
      const Made it = made(100, 500, noise, 10, seed);
      INFO("seed " << seed << ", noise " << noise);
      CHECK(marked(noise_tracks(it.tracks), 100, it.particles) <= 10);
    }
}

TEST_CASE("without noise, hardly any spot is taken for noise") {
  std::int64_t wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Made it = made(100, 40, 0, 8, seed);
    wrong += marked(noise_tracks(it.tracks), 0, it.tracks.tracks());
  }
  INFO(wrong << " of 800");
  CHECK(wrong <= 4);
}

TEST_CASE("without scores, or with too few tracks, no spot is taken for noise") {
  Made it = made(100, 30, 50, 10, 1);
  it.tracks.point_properties[0].name = "mass";
  CHECK(marked(noise_tracks(it.tracks), 0, it.tracks.tracks()) == 0);
  const Made few = made(5, 0, 50, 10, 1);
  CHECK(marked(noise_tracks(few.tracks), 0, few.tracks.tracks()) == 0);
  const Made none = made(100, 0, 0, 10, 1);
  CHECK(noise_tracks(none.tracks).size() == 100);
  CHECK(noise_tracks(TrackSet{}).empty());
}

TEST_CASE("noise is told where it is most of the tracks, and where it makes short tracks") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Made it = made(300, 0, 3000, 6, seed, 0.5);
    const std::size_t single = it.tracks.tracks();
    std::mt19937_64 rng(seed);
    std::exponential_distribution<> excess(2);
    for (int k = 0; k < 60; ++k) it.add({4 + excess(rng), 4 + excess(rng)});
    const std::vector<char> marks = noise_tracks(it.tracks);
    INFO("seed " << seed);
    CHECK(marked(marks, 0, it.particles) <= 12);
    CHECK(marked(marks, it.particles, single) >= 0.98 * 3000);
    CHECK(marked(marks, single, marks.size()) >= 0.8 * 60);
  }
}
