/// Detector benchmark: virus-like frames (512 x 512 x 10 voxels, 1000 spots at random places, Gaussian PSF,
/// Poisson noise) at the challenge's SNR 7, 4 and 2. Prints CSV: accuracy with the number of spots known, and
/// the median time of detect_spots. Scoring is outside the timer.
///
/// bench_detect [--threads N] [--repeats N] [--seeds N] [--first-seed N] [--radius RXY RZ] [--dump DIR]
///              [--refine parabola|fit] [--automatic] [--snr SNR]... [--gallery [--scale N] [--picture
///              NAME]...]
///              [--noise [--planes]] [--volume NX NY NZ SPOTS [--backend NAME]... [--refine NAME]]
///   --snr takes other SNRs than 7, 4 and 2.
///   --automatic finds spots without being told their number.
///   --gallery renders every picture of tests/support/gallery.h instead, and prints for each, as medians over
///   the seeds, F1 and count with the radius given, and F1, count and radius ratio with the radius estimated.
///   --noise asks for .3 to 30 false spots a frame on noise of three kinds, without and with spots, and
///   prints how many there are: means over the seeds, each a frame of 24 x 128 x 128 voxels, or with --planes
///   one of 256 x 256 pixels.
///   --volume times a frame of that shape instead, on each back end by turns (cpu, cuda, auto), with and
///   without the fit.
///   --dump writes frame_<snr>_<seed>.u16 (raw, x fastest) and truth_<snr>_<seed>.csv (z,y,x in voxels) for
///   bench/peers/detect_peers.py.

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/log_detector.h>

#include "bench/detect_volume.h"
#include "tests/support/gallery.h"
#include "tests/support/gallery_scene.h"
#include "tests/support/spots.h"

namespace {

using motes::testing::Spot;

constexpr int kSpots = 1000;
constexpr double kGate = 2.5;  // voxels

struct Settings {
  int threads = 0, repeats = 9, seeds = 6, first_seed = 1;
  motes::Vec3 radius{2.05, 2.05, 1.65};
  std::optional<std::filesystem::path> dump;
  bool fit = false, automatic = false, gallery = false, noise = false, planes = false;
  int scale = 1;
  std::vector<std::string> pictures;  ///< of the gallery; empty: all
  std::optional<motes::bench::VolumeSettings> volume;
  std::vector<std::string> backends, refines;
  std::vector<double> snr;  ///< none: 7, 4 and 2
};

struct Case {
  motes::VolumeFrame frame;
  std::vector<Spot> truth;
};

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto next = [&]() -> std::string {
      if (++i < argc) return argv[i];
      std::fprintf(stderr, "bench_detect: %s needs a value\n", option.c_str());
      std::exit(2);
    };
    if (option == "--snr") {
      settings.snr.push_back(std::stod(next()));
    } else if (option == "--threads") {
      settings.threads = std::stoi(next());
    } else if (option == "--repeats") {
      settings.repeats = std::stoi(next());
    } else if (option == "--seeds") {
      settings.seeds = std::stoi(next());
    } else if (option == "--first-seed") {
      settings.first_seed = std::stoi(next());
    } else if (option == "--radius") {
      settings.radius.x = settings.radius.y = std::stod(next());
      settings.radius.z = std::stod(next());
    } else if (option == "--refine") {
      settings.refines.push_back(next());
      settings.fit = settings.refines.back() == "fit";
    } else if (option == "--backend") {
      settings.backends.push_back(next());
    } else if (option == "--volume") {
      motes::bench::VolumeSettings& volume = settings.volume.emplace();
      volume.shape.nx = std::stol(next());
      volume.shape.ny = std::stol(next());
      volume.shape.nz = std::stol(next());
      volume.spots = std::stoi(next());
    } else if (option == "--automatic") {
      settings.automatic = true;
    } else if (option == "--gallery") {
      settings.gallery = true;
    } else if (option == "--noise") {
      settings.noise = true;
    } else if (option == "--planes") {
      settings.planes = true;
    } else if (option == "--picture") {
      settings.pictures.push_back(next());
    } else if (option == "--scale") {
      settings.scale = std::stoi(next());
    } else if (option == "--dump") {
      settings.dump = next();
    } else {
      std::fprintf(stderr, "bench_detect: unknown option %s\n", option.c_str());
      std::exit(2);
    }
  }
  return settings;
}

Case make_case(double snr, int seed) {
  motes::testing::SpotFrameOptions options;
  options.peak = motes::testing::peak_of_snr(snr, options.background);
  const auto number = static_cast<std::uint64_t>(100 * seed) + static_cast<std::uint64_t>(snr);
  Case made;
  made.truth = motes::testing::random_spots(options.shape, kSpots, number);
  made.frame =
      motes::testing::poisson_frame(options.shape, expected_photons(options, made.truth), number + 1);
  return made;
}

void write_case(const std::filesystem::path& dir, const Case& c, const std::string& name) {
  std::filesystem::create_directories(dir);
  const auto& voxels = std::get<std::vector<std::uint16_t>>(c.frame.voxels);
  std::ofstream raw(dir / ("frame_" + name + ".u16"), std::ios::binary);
  raw.write(reinterpret_cast<const char*>(voxels.data()), static_cast<std::streamsize>(2 * voxels.size()));
  std::ofstream table(dir / ("truth_" + name + ".csv"));
  table.precision(17);
  table << "z,y,x\n";
  for (const Spot& spot : c.truth) table << spot.z << ',' << spot.y << ',' << spot.x << '\n';
}

double seconds_of_one(const motes::Execution& execution, const Case& c,
                      const motes::tracking::DetectionOptions& options, motes::Detections& found) {
  const auto start = std::chrono::steady_clock::now();
  found = motes::tracking::detect_spots(execution, c.frame, options);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

struct GalleryScore {
  double f1 = 0, found = 0;
};

GalleryScore score_picture(const motes::Execution& execution, const motes::testing::Picture& picture,
                           const motes::tracking::DetectionOptions& options) {
  const motes::Detections found = motes::tracking::detect_spots(execution, picture.frame, options);
  const motes::Vec3& sigma = picture.psf_sigma;
  const double gate = std::max(2.0, 1.5 * std::max({sigma.x, sigma.y, sigma.z}));
  const auto score = motes::testing::score_spots(picture.truth, found, picture.frame.voxel_um, gate);
  return {motes::testing::f1_of(score, picture.truth.size(), found.size()),
          static_cast<double>(found.size())};
}

void run_gallery(const Settings& settings, const motes::Execution& execution) {
  std::printf("picture,spots,f1_radius_given,found,f1_radius_estimated,found,radius_ratio\n");
  double mean_given = 0, mean_estimated = 0;
  const std::vector<std::string> names =
      settings.pictures.empty() ? motes::testing::gallery_names() : settings.pictures;
  for (const std::string& name : names) {
    std::vector<double> f1, found, f1_estimated, found_estimated, ratio, spots;
    for (int seed = settings.first_seed; seed < settings.first_seed + settings.seeds; ++seed) {
      const auto picture =
          motes::testing::make_picture(name, settings.scale, static_cast<std::uint64_t>(seed));
      const motes::Shape3& s = picture.frame.shape;
      const double factor = std::sqrt(static_cast<double>((s.nx > 1) + (s.ny > 1) + (s.nz > 1)));
      motes::tracking::DetectionOptions options;
      options.radius_um = {factor * picture.psf_sigma.x, factor * picture.psf_sigma.y,
                           factor * picture.psf_sigma.z};
      if (picture.dark) options.polarity = motes::tracking::Polarity::dark;
      if (settings.fit) options.refine = motes::tracking::Refine::fit;
      spots.push_back(static_cast<double>(picture.truth.size()));
      const GalleryScore given = score_picture(execution, picture, options);
      const auto sizes = motes::tracking::estimate_sizes(execution, picture.frame, options.polarity);
      GalleryScore estimated{picture.truth.empty() ? 1.0 : 0.0, 0};
      if (sizes) {
        ratio.push_back(sizes->radius_um.x / options.radius_um.x);
        options.radius_um = sizes->radius_um;
        options.largest_radius_um = sizes->largest_radius_um;
        estimated = score_picture(execution, picture, options);
      }
      f1.push_back(given.f1);
      found.push_back(given.found);
      f1_estimated.push_back(estimated.f1);
      found_estimated.push_back(estimated.found);
    }
    std::printf("%s,%.0f,%.3f,%.0f,%.3f,%.0f,%.2f\n", name.c_str(), median(spots), median(f1), median(found),
                median(f1_estimated), median(found_estimated), median(ratio));
    std::fflush(stdout);
    const auto n = static_cast<double>(names.size());
    mean_given += median(f1) / n;
    mean_estimated += median(f1_estimated) / n;
  }
  std::printf("mean,,%.4f,,%.4f,,\n", mean_given, mean_estimated);
}

/// A frame of noise: white, white smoothed by one voxel, or that of light whose background rises fourfold
/// along x; with `spots` spots well apart, bright enough to be found.
Case noise_case(const std::string& kind, int spots, bool plane, std::uint64_t seed) {
  namespace make = motes::testing;
  make::Random random(seed);
  make::Scene scene;
  scene.shape = plane ? motes::Shape3{1, 256, 256} : motes::Shape3{24, 128, 128};
  scene.sigma = {1.2, 1.2, 1.0};
  scene.peak = 80;
  scene.spots = make::places(scene.shape, scene.sigma, spots, 3, 6, random);
  scene.light.resize(static_cast<std::size_t>(scene.shape.voxels()));
  make::each_voxel(scene.shape, [&](std::size_t i, double, double, double x) {
    scene.light[i] = kind == "light" ? 5 + 15 * x / static_cast<double>(scene.shape.nx) : 100;
  });
  make::draw_spots(scene);
  make::Field values = scene.light;
  if (kind == "light") {
    values = make::photons(scene.light, random);
  } else {
    make::Field noise(values.size());
    for (double& v : noise) v = random.normal();
    if (kind == "smoothed") noise = make::smoothed(noise, scene.shape, {1, 1, plane ? 0.0 : 1.0});
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += (kind == "smoothed" ? (plane ? 35 : 50) : 10) * noise[i];
  }
  Case made;
  made.frame.shape = scene.shape;
  made.frame.voxel_um = {1, 1, 1};
  made.frame.voxels = std::vector<float>(values.begin(), values.end());
  made.truth = scene.spots;
  return made;
}

void run_noise(const Settings& settings, const motes::Execution& execution) {
  constexpr std::array kRates{.3, 1.0, 3.0, 10.0, 30.0};
  std::printf("noise,spots,asked,found,standard_error,frames\n");
  for (const char* kind : {"white", "smoothed", "light"})
    for (const int spots : {0, 30}) {
      std::array<double, kRates.size()> sum{}, square{};
      for (int seed = settings.first_seed; seed < settings.first_seed + settings.seeds; ++seed) {
        const Case c = noise_case(kind, spots, settings.planes, static_cast<std::uint64_t>(seed));
        motes::tracking::DetectionOptions options;
        options.radius_um = settings.radius;
        for (std::size_t r = 0; r < kRates.size(); ++r) {
          options.false_positives_per_frame = kRates[r];
          const motes::Detections found = motes::tracking::detect_spots(execution, c.frame, options);
          const auto score = motes::testing::score_spots(c.truth, found, c.frame.voxel_um, kGate);
          const double wrong = static_cast<double>(found.size()) - score.matched;
          sum[r] += wrong;
          square[r] += wrong * wrong;
        }
      }
      const double n = settings.seeds;
      for (std::size_t r = 0; r < kRates.size(); ++r) {
        const double mean = sum[r] / n, variance = std::max(0.0, square[r] / n - mean * mean);
        std::printf("%s,%d,%.1f,%.2f,%.2f,%d\n", kind, spots, kRates[r], mean, std::sqrt(variance / n),
                    settings.seeds);
      }
      std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  motes::Execution execution;
  execution.threads = settings.threads;
  if (settings.volume) {
    motes::bench::VolumeSettings volume = *settings.volume;
    volume.threads = settings.threads;
    volume.repeats = settings.repeats;
    if (!settings.backends.empty()) volume.backends = settings.backends;
    if (!settings.refines.empty()) volume.refines = settings.refines;
    motes::bench::time_volume(volume);
    return 0;
  }
  if (settings.gallery) {
    run_gallery(settings, execution);
    return 0;
  }
  if (settings.noise) {
    run_noise(settings, execution);
    return 0;
  }
  motes::tracking::DetectionOptions options;
  options.radius_um = settings.radius;  // voxels are 1 um here
  options.max_count = settings.automatic ? 0 : kSpots;
  if (settings.fit) options.refine = motes::tracking::Refine::fit;
  std::printf("snr,jsc,rmse_voxel,seconds_median,seconds_least,seconds_most,mvoxel_per_s,threads,frames\n");
  for (const double snr : settings.snr.empty() ? std::vector<double>{7, 4, 2} : settings.snr) {
    double jsc = 0, square = 0;
    std::vector<double> seconds;
    double voxels = 0;
    for (int seed = settings.first_seed; seed < settings.first_seed + settings.seeds; ++seed) {
      const Case c = make_case(snr, seed);
      if (settings.dump)
        write_case(*settings.dump, c, std::to_string(static_cast<int>(snr)) + "_" + std::to_string(seed));
      motes::Detections found;
      for (int i = 0; i < settings.repeats; ++i)
        seconds.push_back(seconds_of_one(execution, c, options, found));
      const auto score = motes::testing::score_spots(c.truth, found, c.frame.voxel_um, kGate);
      jsc += score.jsc / settings.seeds;
      square += score.rmse_voxel * score.rmse_voxel / settings.seeds;
      voxels = static_cast<double>(c.frame.shape.voxels());
    }
    std::sort(seconds.begin(), seconds.end());
    const double median = seconds[seconds.size() / 2];
    std::printf("%g,%.4f,%.4f,%.5f,%.5f,%.5f,%.1f,%d,%d\n", snr, jsc, std::sqrt(square), median,
                seconds.front(), seconds.back(), voxels / median / 1e6, motes::thread_count(execution),
                settings.seeds);
  }
  return 0;
}
