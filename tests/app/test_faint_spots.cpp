/// Faint spots: more noise is accepted where tracks have many gaps, the same in parts of a series.

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/run/faint_spots.h"
#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// 60 walkers that move little, of which a share is missed in each frame; `faint` in all frames.
app::SampledFrame seen(std::size_t frame, double missed, bool faint) {
  app::SampledFrame out;
  out.found.frame = static_cast<std::int32_t>(frame);
  out.faint = faint;
  for (int k = 0; k < 60; ++k) {
    std::mt19937_64 rng(static_cast<std::uint64_t>(1000 * k) + frame);
    std::uniform_real_distribution<> chance;
    if (chance(rng) < missed) continue;
    out.found.x_um.push_back(k % 8 * 10 + 0.5 * chance(rng));
    out.found.y_um.push_back(k / 8 * 10 + 0.5 * chance(rng));
    out.found.z_um.push_back(0);
  }
  return out;
}

/// A simulated stack of spots of this signal-to-noise ratio.
struct FaintSeries {
  TempDir folder;
  std::filesystem::path dir = folder.path();
  std::string input = out("simulated/frames/frames.ome.tif");
  explicit FaintSeries(const std::string& snr) {
    write_file(dir / "s.yaml",
               "simulation: {particles: 60, frames: 12, dt_s: 1, box_um: [1.8, 20, 20], motion: brownian,\n"
               "  diffusion_um2_s: 0.01, min_distance_um: 0.3}\n"
               "imaging: {write_frames: true, voxel_um: [0.2, 0.1, 0.1], psf_sigma_um: [0.2, 0.12, 0.12],\n"
               "  background: 10, snr: " +
                   snr + "}\n");
    run({"simulate", out("s.yaml"), "-o", out("simulated")});
  }
  std::string out(const std::string& name) const { return (dir / name).string(); }
  static std::string run(const std::vector<std::string>& arguments) {
    const Outcome outcome = run_motes(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.err + outcome.out;
  }
  double jsc(const std::string& tracks) const {
    const Outcome scored = run_motes({"score", "--truth", out("simulated/truth.h5"), "--tracks",
                                      out(tracks + "/tracks.h5"), "--gate", "0.3", "--quiet", "--json", "-"});
    REQUIRE(scored.code == 0);
    return nlohmann::json::parse(scored.out).at("jsc").get<double>();
  }
};

}  // namespace

TEST_CASE("More false spots are accepted if spots are faint and links bridge many gaps") {
  app::Config config;
  io::SeriesInfo info;
  info.frames = 30;
  std::size_t looked = 0;
  // Shares of missed spots with the automatic choice, and with more false spots.
  const auto settle = [&](double missed, double missed_then, bool faint) {
    looked = 0;
    return app::settle_faint_spots({2}, config, info, false, [&](std::size_t k, std::optional<double> more) {
      ++looked;
      return seen(k, more ? missed_then : missed, faint);
    });
  };
  const auto once = settle(0.1, 0.1, true);
  REQUIRE(once);
  CHECK(once->false_per_frame == Approx(2 * 0.9 * 60).epsilon(0.1));
  CHECK(looked == 40);
  const auto twice = settle(0.5, 0.3, true);
  REQUIRE(twice);
  CHECK(twice->false_per_frame == Approx(2 * 0.7 * 60).epsilon(0.1));
  CHECK(looked == 60);
  CHECK_FALSE(settle(0.02, 0, true));
  CHECK_FALSE(settle(0.3, 0, false));
  CHECK(looked <= 3);
  config.detection.false_positives_per_frame = 5;
  CHECK_FALSE(settle(0.3, 0, true));
  config.detection.false_positives_per_frame.reset();
  config.linking.max_gap = 0;
  CHECK_FALSE(settle(0.3, 0, true));
}

TEST_CASE("Faint spots are tracked through noise, clear spots as before") {
  const FaintSeries faint("1.5");
  const std::string told = faint.run({"track", faint.input, "-o", faint.out("tracks")});
  CHECK_THAT(told, Contains("spots are faint"));
  faint.run({"detect", faint.input, "-o", faint.out("spots.csv")});
  faint.run({"track", faint.out("spots.csv"), "-o", faint.out("without")});
  INFO(faint.jsc("tracks") << " with more noise, " << faint.jsc("without") << " without");
  CHECK(faint.jsc("tracks") > faint.jsc("without") + 0.05);
  const FaintSeries clear("4");
  CHECK_THAT(clear.run({"track", clear.input, "-o", clear.out("tracks")}), !Contains("spots are faint"));
}

TEST_CASE("Parts of a series of faint spots give the bytes of one run, with a plan and without") {
  const FaintSeries faint("1.5");
  faint.run({"track", faint.input, "-o", faint.out("whole")});
  faint.run({"detect", faint.input, "--frames", "0:5", "-o", faint.out("one.h5")});
  faint.run({"detect", faint.input, "--frames", "5:", "-o", faint.out("two.h5")});
  faint.run({"merge", faint.out("one.h5"), faint.out("two.h5"), "-o", faint.out("merged")});
  CHECK(file_bytes(faint.out("merged/tracks.h5")) == file_bytes(faint.out("whole/tracks.h5")));
  const std::string plan = faint.out("plan.yaml");
  faint.run({"plan", faint.input, "-o", plan});
  CHECK_THAT(file_bytes(plan), !Contains("false_positives_per_frame: auto"));
  faint.run({"track", plan, "-o", faint.out("planned")});
  faint.run({"detect", plan, "--frames", "0:5", "-o", faint.out("p1.h5")});
  faint.run({"detect", plan, "--frames", "5:", "-o", faint.out("p2.h5")});
  faint.run({"merge", faint.out("p1.h5"), faint.out("p2.h5"), "--config", plan, "-o", faint.out("joined")});
  CHECK(file_bytes(faint.out("joined/tracks.h5")) == file_bytes(faint.out("planned/tracks.h5")));
}
