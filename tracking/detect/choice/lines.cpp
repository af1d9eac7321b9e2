/// Noise and bends give a line many maxima, some of them round. Around a spot the frame falls in every
/// direction; around a maximum of a line it does not along the line. The fall in a direction is that from the
/// spot to the lowest place on either side, so that a neighbour does not hide it. Its mean over both sides is
/// compared with that of the direction in which the frame falls most.

#include "tracking/detect/choice/lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "tracking/detect/filter/blocks.h"

namespace motes::tracking::detect {
namespace {

constexpr double kLeastFall = 0.4;  // of a spot: least ratio of the smallest to the largest fall
constexpr std::array kDistances{1.5, 2.0, 2.5, 3.0};  // in sigma, at which the frame is examined
constexpr int kDirections = 8;                        // in a plane; in a stack: to the 26 neighbours
constexpr std::size_t kSample = 100;                  // spots tested first
constexpr double kFewShare = 0.12;  // up to this share of them on lines, lines are of no concern
constexpr double kMostShare = 2.0 / 3;
constexpr std::size_t kFewest = 2;
constexpr double kLeastSigma = 1;    // in voxels, of which means of three are examined
constexpr double kApart = 4;         // in sigma: neighbours farther away do not hide a fall
constexpr double kNeighbours = 0.4;  // with more of them on average, spots look like lines

std::vector<Place> directions_of(const Filter& filter) {
  std::vector<Place> all;
  if (!(filter.sigma[2] > 0) || !(filter.sigma[1] > 0)) {
    for (int k = 0; k < kDirections && filter.sigma[1] > 0; ++k) {
      const double angle = std::numbers::pi * k / kDirections;
      all.push_back({std::cos(angle), std::sin(angle), 0});
    }
    return all;
  }
  for (int i = 14; i < 27; ++i) {  // one of each pair of opposite neighbours
    const Place d{i % 3 - 1.0, i / 3 % 3 - 1.0, i / 9 - 1.0};
    const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    all.push_back({d[0] / length, d[1] / length, d[2] / length});
  }
  return all;
}

template <class T>
class Surroundings {
 public:
  Surroundings(const T* voxels, const Shape3& s, const Filter& filter, Polarity polarity)
      : voxels_(voxels),
        size_{s.nx, s.ny, s.nz},
        sigma_(filter.sigma),
        sign_(polarity == Polarity::bright ? 1 : -1),
        directions_(directions_of(filter)) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(sigma_[a] > 0)) continue;
      step_[a] = std::max<std::int64_t>(1, std::lround(0.5 * sigma_[a]));
      sigma_[a] = std::max(kLeastSigma, sigma_[a]);
    }
  }

  bool on_line(const Voxel& v) const {
    const Place at{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
    const double here = mean_at({v.x, v.y, v.z});
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Place& d : directions_) {
      const double one = fall(at, d, 1, here), other = fall(at, d, -1, here);
      if (std::isnan(one) && std::isnan(other)) continue;
      const double mean = std::isnan(one) ? other : std::isnan(other) ? one : 0.5 * (one + other);
      least = std::min(least, mean);
      most = std::max(most, mean);
    }
    return least < kLeastFall * most;
  }

 private:
  /// From the value `here` to the lowest one on one side; NaN outside the frame.
  double fall(const Place& at, const Place& direction, double side, double here) const {
    double lowest = std::numeric_limits<double>::quiet_NaN();
    for (const double distance : kDistances) {
      Index3 place{};
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a) {
        place[a] = std::lround(at[a] + side * distance * sigma_[a] * direction[a]);
        inside = inside && place[a] >= 0 && place[a] < size_[a];
      }
      if (!inside) break;
      lowest = std::fmin(lowest, mean_at(place));
    }
    return here - lowest;
  }

  /// The mean of a voxel and its neighbours, half a sigma away. Beyond a face the last voxel is repeated.
  double mean_at(const Index3& place) const {
    const auto index = [&](std::size_t a, std::int64_t k) {
      return std::clamp<std::int64_t>(place[a] + k * step_[a], 0, size_[a] - 1);
    };
    double sum = 0;
    for (std::int64_t k = -1; k <= 1; ++k)
      for (std::int64_t j = -1; j <= 1; ++j)
        for (std::int64_t i = -1; i <= 1; ++i)
          sum +=
              static_cast<double>(voxels_[(index(2, k) * size_[1] + index(1, j)) * size_[0] + index(0, i)]);
    return sign_ * sum / 27;
  }

  const T* voxels_;
  Index3 size_, step_{};
  std::array<double, 3> sigma_;
  double sign_;
  std::vector<Place> directions_;
};

/// The mean number of neighbours of one of `spots` spots that are spread evenly.
double neighbours_of(double spots, const Filter& filter, const Shape3& shape) {
  constexpr std::array kBall{2.0, std::numbers::pi, 4 * std::numbers::pi / 3};
  double share =
      spots / static_cast<double>(shape.voxels()) * kBall[static_cast<std::size_t>(filter.dimensions - 1)];
  for (const double sigma : filter.sigma)
    if (sigma > 0) share *= kApart * std::max(kLeastSigma, sigma);
  return share;
}

}  // namespace

OnLines drop_lines(const VolumeFrame& frame, const Filter& filter, Polarity polarity,
                   std::vector<ChosenSpot>& spots) {
  return visit_voxels(frame.voxels, [&](auto voxels) -> OnLines {
    const Surroundings around(voxels.data(), frame.shape, filter, polarity);
    const std::size_t step = (spots.size() + kSample - 1) / kSample;
    std::size_t tested = 0, found = 0;
    for (std::size_t i = 0; i < spots.size(); i += step, ++tested)
      if (around.on_line(spots[i].voxel)) ++found;
    const auto of_tested = [&](double share) { return share * static_cast<double>(tested); };
    if (found < kFewest || static_cast<double>(found) < of_tested(kFewShare)) return {};
    const double apart = static_cast<double>(tested - found) / static_cast<double>(tested);
    if (neighbours_of(apart * static_cast<double>(spots.size()), filter, frame.shape) > kNeighbours)
      return {};
    if (static_cast<double>(found) > of_tested(kMostShare)) return {0, true};
    return {std::erase_if(spots, [&](const ChosenSpot& one) { return around.on_line(one.voxel); }), false};
  });
}

}  // namespace motes::tracking::detect
