#include "tracking/link/series/crowding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr std::size_t kNeighbours = 10, kLeastPoints = 6;
/// Densities differ if the standard deviation of their logarithms exceeds this. It is 0.3 to 0.7 in even
/// samples (with their borders, where half of the neighbours are missing) and embryos, and 1.7 or more if
/// some particles lie in clusters, or some are spread wide.
constexpr double kUneven = 1;
/// About this many detections show whether densities differ.
constexpr std::int64_t kUnevenSample = 4000;
/// Limits of a result, for copies and outliers.
constexpr double kMostCrowding = 1e6;

/// Logarithms of the density around every `every`-th point of a frame; empty if it has few points.
std::vector<double> log_densities(std::span<const Vec3> points, int dims, std::size_t every) {
  std::vector<double> out;
  if (points.size() < kLeastPoints) return out;
  const std::size_t wanted = std::min(kNeighbours, points.size() - 1) + 1;
  const NearPoints near(points);
  std::array<std::size_t, kNeighbours + 1> index{};
  std::array<double, kNeighbours + 1> squared{};
  for (std::size_t k = 0; k < points.size(); k += every) {
    near.nearest(points[k], wanted, index.data(), squared.data());
    const double volume = ball_volume(dims, std::sqrt(squared[wanted - 1]));
    out.push_back(volume > 0 ? std::log(static_cast<double>(wanted - 1) / volume) : HUGE_VAL);
  }
  return out;
}

/// Whether the density differs from place to place within frames.
bool uneven(const SeriesPoints& points) {
  const std::int32_t frames = points.frames();
  const auto step = std::max<std::int64_t>(1, std::ssize(points.at) / kUnevenSample);
  const auto of_frame = static_cast<std::size_t>(std::min<std::int64_t>(step, std::max(1, frames / 4)));
  const std::size_t of_points = std::max<std::size_t>(1, at(step) / of_frame);
  double squares = 0, all = 0;
  for (std::size_t t = 0; t < at(frames); t += of_frame) {
    std::vector<double> logs =
        log_densities(points.frame(static_cast<std::int32_t>(t)), points.dims, of_points);
    std::erase(logs, HUGE_VAL);
    if (logs.empty()) continue;
    std::vector<double> sorted = logs;
    const double middle = quantile(sorted, 0.5);
    for (const double one : logs) squares += (one - middle) * (one - middle), all += 1;
  }
  return all > 0 && squares > kUneven * kUneven * all;
}

}  // namespace

std::vector<double> crowding_of(const Execution& execution, const SeriesPoints& points) {
  if (!uneven(points)) return {};
  std::vector<double> out(points.size(), 1);
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    const std::vector<double> logs =
        log_densities(points.frame(static_cast<std::int32_t>(t)), points.dims, 1);
    for (std::size_t k = 0; k < logs.size(); ++k)
      out[at(points.offset[at(t)]) + k] =
          std::clamp(std::exp(logs[k]) / points.density[at(t)], 1 / kMostCrowding, kMostCrowding);
  });
  return out;
}

}  // namespace motes::tracking
