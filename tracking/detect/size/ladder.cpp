#include "tracking/detect/size/ladder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tracking/detect/choice/threshold.h"
#include "tracking/detect/filter/hot_voxels.h"
#include "tracking/detect/filter/value_span.h"
#include "tracking/detect/maxima/maxima.h"
#include "tracking/detect/size/evidence.h"

namespace motes::tracking::detect {
namespace {

constexpr double kSmallest = 0.7;    // least sigma, in voxels of the finest axis
constexpr int kScales = 9;           // neighbours differ by a factor sqrt(2)
constexpr double kCrowdScale = 1.9;  // least sigma of resolved spots in crowds, in voxels

}  // namespace

bool fits_in(const VolumeFrame& frame, const Filter& filter) {
  const std::array<std::int64_t, 3> size{frame.shape.nx, frame.shape.ny, frame.shape.nz};
  for (std::size_t a = 0; a < 3; ++a)
    if (size[a] > kThin && filter.sigma[a] > static_cast<double>(size[a]) / 3) return false;
  return true;
}

Rung rung_of(const Execution& execution, const VolumeFrame& frame, Polarity polarity, const Sigma& sigma,
             bool& hot_voxels) {
  Rung rung;
  rung.filter = filter_of(frame, sigma);
  rung.sigma = sigma;
  const ValueRange range = check_frame(execution, frame);
  const Response response(execution, frame, rung.filter, polarity, range.low);
  const float floor = rounding_floor(rung.filter, range);
  const std::vector<Voxel> maxima = local_maxima(execution, response, floor);
  rung.maxima = maxima.size();
  const auto choose = [&](bool comparing) {
    return choose_spots(execution, frame, rung.filter, response, polarity, floor, maxima,
                        {{}, {}, false, polarity, comparing, false, !comparing});
  };
  const double voxels = sigma[0] / std::max(frame.voxel_um.x, frame.voxel_um.y);
  if (voxels >= kSolidObject) {
    const Choice objects = choose(false);
    rung.solid = objects.solid;
    rung.wide = rung.solid || voxels >= kWideObject;
    for (const ChosenSpot& spot : rung.wide ? objects.spots : std::vector<ChosenSpot>{})
      rung.objects.push_back(refine(response, rung.filter, spot.voxel));
  }
  Choice choice = choose(true);
  hot_voxels = choice.hot_voxels;
  rung.spots = std::move(choice.spots);
  for (const ChosenSpot& spot : rung.spots) rung.peaks.push_back(refine(response, rung.filter, spot.voxel));
  const double finest = std::min({frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z});
  rung.evidence = sum_of_evidence(rung.spots, sigma[0] / finest);
  rung.crowd = choice.crowd && sigma[0] >= kCrowdScale * finest;
  if (choice.crowd)
    rung.evidence *= static_cast<double>(rung.spots.size()) / static_cast<double>(rung.maxima);
  return rung;
}

Sigma sigma_of_rung(const VolumeFrame& frame, double i) {
  const double finest = std::min({frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z});
  const double um = kSmallest * finest * std::exp2(0.5 * i);
  return {um, um, um};
}

std::vector<Rung> climb(const Execution& execution, VolumeFrame& frame, Polarity polarity, double higher) {
  std::vector<Rung> ladder;
  bool repaired = false;
  for (int i = 0; i < kScales; ++i) {
    const Sigma sigma = sigma_of_rung(frame, i + higher);
    if (i > 2 && !fits_in(frame, filter_of(frame, sigma))) break;
    bool hot_voxels = false;
    Rung rung = rung_of(execution, frame, polarity, sigma, hot_voxels);
    // At the finest scales spots are little more than one voxel.
    if (hot_voxels && !repaired) {
      repaired = true;
      if (auto clean = without_hot_voxels(execution, frame, polarity)) {
        frame = std::move(*clean);
        rung = rung_of(execution, frame, polarity, sigma, hot_voxels);
      }
    }
    ladder.push_back(std::move(rung));
  }
  return ladder;
}

}  // namespace motes::tracking::detect
