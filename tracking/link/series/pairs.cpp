#include "tracking/link/series/pairs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <motes/base/index.h>
#include <motes/base/quantile.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/linker.h>

namespace motes::tracking {
namespace {

/// Least gate relative to the largest coordinate, since positions are snapped to a fraction of the gate
/// (link_cost.h).
constexpr double kLeastGatePerCoordinate = 0x1p-28;
/// If some detections are crowded, the gate is the spacing of those that are not: at this quantile of
/// densities, but so that detections have about kMostInGate others within it, at most.
constexpr double kSparse = 0.05, kMostInGate = 500;

/// The spacing of detections that are not crowded.
double sparse_spacing(const SeriesPoints& points) {
  std::vector<double> densities;
  double mean = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    densities.push_back(points.density_at(i));
    mean += densities.back() / static_cast<double>(points.size());
  }
  const double most = kMostInGate / (mean * ball_volume(points.dims, 1));
  return std::pow(std::min(1 / quantile(densities, kSparse), most), 1.0 / points.dims);
}

}  // namespace

std::vector<Detections> frames_of(const SeriesPoints& points) {
  std::vector<Detections> frames(at(points.frames()));
  for (std::size_t t = 0; t < frames.size(); ++t) frames[t].frame = static_cast<std::int32_t>(t);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Detections& frame = frames[at(points.slot[i])];
    const Vec3& place = points.at[i];
    frame.x_um.push_back(place.x), frame.y_um.push_back(place.y), frame.z_um.push_back(place.z);
  }
  return frames;
}

SeriesLinking link_pair_by_pair(const Execution& execution, const SeriesPoints& points, const Gate& gate) {
  const std::vector<Detections> frames = frames_of(points);
  double farthest = 0;
  for (const Vec3& place : points.at)
    farthest = std::max({farthest, std::abs(place.x), std::abs(place.y), std::abs(place.z)});
  Execution on_cpu = execution;
  on_cpu.backend = Backend::cpu;
  SeriesLinking out = SeriesLinking::none(points.size());
  LinkOptions options;
  options.candidates.gate = gate;
  if (!gate.bounded()) {
    const auto estimate = estimate_gate(on_cpu, frames);
    if (!estimate) return out;
    options.candidates.gate = estimate->gate();
    // Pair counts give the gate of crowded ones, if they are most.
    if (!points.crowding.empty())
      options.candidates.gate = std::max(estimate->gate().um, sparse_spacing(points));
  }
  // Duplicates can be as near to each other as rounding errors, so that the estimated gate is too small.
  if (!(options.candidates.gate.um > kLeastGatePerCoordinate * farthest)) return out;
  const std::vector<PairLinks> links = link_frames(on_cpu, frames, options);
  for (std::size_t t = 0; t < links.size(); ++t)
    for (std::size_t k = 0; k < links[t].next.size(); ++k) {
      if (links[t].next[k] < 0) continue;
      const auto i = at(points.offset[t]) + k, j = at(points.offset[t + 1] + links[t].next[k]);
      out.next[i] = static_cast<matching::Index>(j);
      out.previous[j] = static_cast<matching::Index>(i);
    }
  return out;
}

}  // namespace motes::tracking
