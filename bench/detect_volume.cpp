#include "bench/detect_volume.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <motes/base/workspace.h>
#include <motes/tracking/log_detector.h>

#include "tests/support/spots.h"

namespace motes::bench {
namespace {

constexpr double kBackground = 100, kPeak = 120;
constexpr Vec3 kSigma{1.2, 1.2, 1.0};

/// Of deviation 1, from the voxel's number alone: the sum of twelve uniform numbers.
double noise_of(std::uint64_t voxel) {
  double sum = -6;
  for (std::uint64_t k = 0; k < 3; ++k) {
    std::uint64_t bits = (3 * voxel + k + 1) * 0x9e3779b97f4a7c15ULL;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
    bits ^= bits >> 31;
    for (int part = 0; part < 4; ++part) sum += static_cast<double>(bits >> (16 * part) & 0xffff) / 65536;
  }
  return sum;
}

VolumeFrame make_volume(const VolumeSettings& settings) {
  const Shape3& s = settings.shape;
  std::vector<float> light(static_cast<std::size_t>(s.voxels()), static_cast<float>(kBackground));
  for (const testing::Spot& spot : testing::random_spots(s, settings.spots, 5)) {
    const auto each = [](double place, double sigma, std::int64_t n, const auto& use) {
      const auto first = std::max<std::int64_t>(0, std::lround(place - 4 * sigma));
      for (std::int64_t i = first; i <= std::min<std::int64_t>(n - 1, std::lround(place + 4 * sigma)); ++i)
        use(i, std::exp(-0.5 * std::pow((static_cast<double>(i) - place) / sigma, 2)));
    };
    each(spot.z, kSigma.z, s.nz, [&](std::int64_t z, double gz) {
      each(spot.y, kSigma.y, s.ny, [&](std::int64_t y, double gy) {
        each(spot.x, kSigma.x, s.nx, [&](std::int64_t x, double gx) {
          light[static_cast<std::size_t>((z * s.ny + y) * s.nx + x)] +=
              static_cast<float>(kPeak * gz * gy * gx);
        });
      });
    });
  }
  std::vector<std::uint16_t> voxels(light.size());
#pragma omp parallel for
  for (std::size_t i = 0; i < voxels.size(); ++i) {
    const double mean = static_cast<double>(light[i]);
    voxels[i] = static_cast<std::uint16_t>(std::lround(std::max(0.0, mean + std::sqrt(mean) * noise_of(i))));
  }
  VolumeFrame frame;
  frame.shape = s;
  frame.voxel_um = {1, 1, 1};
  frame.voxels = std::move(voxels);
  return frame;
}

bool same(const Detections& a, const Detections& b) {
  bool equal = a.x_um == b.x_um && a.y_um == b.y_um && a.z_um == b.z_um && a.radius_um == b.radius_um &&
               a.intensity == b.intensity && a.quality == b.quality;
  for (std::size_t c = 0; equal && c < a.properties.size(); ++c)
    for (std::size_t i = 0; equal && i < a.size(); ++i) {
      const double u = a.properties[c].values[i], v = b.properties[c].values[i];
      equal = u == v || (std::isnan(u) && std::isnan(v));
    }
  return equal;
}

}  // namespace

void time_volume(const VolumeSettings& settings) {
  const VolumeFrame frame = make_volume(settings);
  std::printf(
      "voxels,spots,refine,backend,found,maxima,seconds_median,seconds_least,seconds_most,threads,same\n");
  for (const std::string& refine : settings.refines) {
    tracking::DetectionOptions options;
    options.radius_um = {std::sqrt(3.0) * kSigma.x, std::sqrt(3.0) * kSigma.y, std::sqrt(3.0) * kSigma.z};
    options.refine = refine == "fit" ? tracking::Refine::fit : tracking::Refine::parabola;
    std::vector<std::vector<double>> seconds(settings.backends.size());
    std::vector<Detections> found(settings.backends.size());
    std::vector<Workspace> workspaces(settings.backends.size());
    tracking::DetectionReport report;
    std::vector<std::vector<std::vector<double>>> stages(settings.backends.size());
    std::vector<std::string> names;
    for (int i = 0; i <= settings.repeats; ++i)  // the first is a warm-up
      for (std::size_t b = 0; b < settings.backends.size(); ++b) {
        Execution execution;
        execution.threads = settings.threads;
        execution.workspace = &workspaces[b];
        if (settings.backends[b] != "cpu")
          execution.backend = settings.backends[b] == "cuda" ? Backend::cuda : Backend::automatic;
        const auto start = std::chrono::steady_clock::now();
        found[b] = tracking::detect_spots(execution, frame, options, &report);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        if (i == 0 && settings.repeats > 0) continue;
        seconds[b].push_back(spent.count());
        if (!report.device_s.empty()) names.clear();
        stages[b].resize(report.device_s.size());
        for (std::size_t k = 0; k < report.device_s.size(); ++k) {
          names.push_back(report.device_s[k].first);
          stages[b][k].push_back(report.device_s[k].second);
        }
      }
    for (std::size_t b = 0; b < settings.backends.size(); ++b) {
      std::sort(seconds[b].begin(), seconds[b].end());
      std::printf("%lldx%lldx%lld,%d,%s,%s,%zu,%lld,%.5f,%.5f,%.5f,%d,%d\n",
                  static_cast<long long>(frame.shape.nx), static_cast<long long>(frame.shape.ny),
                  static_cast<long long>(frame.shape.nz), settings.spots, refine.c_str(),
                  settings.backends[b].c_str(), found[b].size(), static_cast<long long>(report.local_maxima),
                  seconds[b][seconds[b].size() / 2], seconds[b].front(), seconds[b].back(),
                  thread_count({settings.threads}), static_cast<int>(same(found[b], found[0])));
      for (std::size_t k = 0; k < stages[b].size(); ++k) {
        std::sort(stages[b][k].begin(), stages[b][k].end());
        std::printf("# device %s: %.3f ms\n", names[k].c_str(), 1e3 * stages[b][k][stages[b][k].size() / 2]);
      }
      std::fflush(stdout);
    }
  }
}

}  // namespace motes::bench
