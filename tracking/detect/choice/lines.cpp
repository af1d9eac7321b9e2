/// Noise and bends give a line many maxima, some of them round. Around a spot the frame falls in every
/// direction; around a maximum of a line it does not along the line. The fall in a direction is that from the
/// spot to the lowest place on either side, so that a neighbour does not hide it. Its mean over both sides is
/// compared with that of the direction in which the frame falls most.
///
/// Elongated spots are like that, too. A line or the rim of a wide object goes on: from its maxima, a walk
/// that always takes the highest place ahead gets far away without losing height.

#include "tracking/detect/choice/lines.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>

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
constexpr double kCrowded = 1;       // with more of them, a walk gets from spot to spot
constexpr double kStep = 1.5;        // in sigma, of a walk
constexpr double kFar = 16;          // in sigma: walks from elongated spots end before
constexpr double kLostHeight = 0.5;  // largest loss of height on a walk, relative to the largest fall
constexpr double kAhead = 0.5;       // least cosine of the angle between two steps

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
    const Falls falls = falls_around(v);
    return falls.least < kLeastFall * falls.most;
  }

  /// Whether a walk from v gets far away without losing height.
  bool goes_on(const Voxel& v) const {
    const double lowest = mean_at({v.x, v.y, v.z}) - kLostHeight * falls_around(v).most;
    const auto from = [&](const Place& d, double side) {
      return walk_is_long(place_of(v), {side * d[0], side * d[1], side * d[2]}, lowest);
    };
    return std::any_of(directions_.begin(), directions_.end(),
                       [&](const Place& d) { return from(d, 1) || from(d, -1); });
  }

 private:
  /// Mean falls over both sides, in the directions in which they are smallest and largest.
  struct Falls {
    double least = std::numeric_limits<double>::infinity(), most = 0;
  };

  static Place place_of(const Voxel& v) {
    return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
  }

  Falls falls_around(const Voxel& v) const {
    const Place at = place_of(v);
    const double here = mean_at({v.x, v.y, v.z});
    Falls falls;
    for (const Place& d : directions_) {
      const double one = fall(at, d, 1, here), other = fall(at, d, -1, here);
      if (std::isnan(one) && std::isnan(other)) continue;
      const double mean = std::isnan(one) ? other : std::isnan(other) ? one : 0.5 * (one + other);
      falls.least = std::min(falls.least, mean);
      falls.most = std::max(falls.most, mean);
    }
    return falls;
  }

  /// The nearest voxel at this distance, in sigma; none outside the frame.
  std::optional<Index3> voxel_at(const Place& from, const Place& direction, double distance) const {
    Index3 place{};
    for (std::size_t a = 0; a < 3; ++a) {
      place[a] = std::lround(from[a] + distance * sigma_[a] * direction[a]);
      if (place[a] < 0 || place[a] >= size_[a]) return std::nullopt;
    }
    return place;
  }

  /// Whether a walk that begins in this direction gets far away. Every step goes to the highest place ahead,
  /// which must not be lower than `lowest`.
  bool walk_is_long(const Place& start, Place direction, double lowest) const {
    Place at = start;
    const int most_steps = static_cast<int>(2 * kFar / kStep);
    for (int step = 0; step < most_steps; ++step) {
      double highest = -std::numeric_limits<double>::infinity();
      Place best{};
      const auto look = [&](const Place& d) {
        if (d[0] * direction[0] + d[1] * direction[1] + d[2] * direction[2] < kAhead) return;
        const std::optional<Index3> place = voxel_at(at, d, kStep);
        const double height = place ? mean_at(*place) : highest;
        if (height > highest) highest = height, best = d;
      };
      for (const Place& d : directions_) look(d), look({-d[0], -d[1], -d[2]});
      if (!(highest >= lowest)) return false;
      direction = best;
      double squared = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        at[a] += kStep * sigma_[a] * direction[a];
        const double away = sigma_[a] > 0 ? (at[a] - start[a]) / sigma_[a] : 0;
        squared += away * away;
      }
      if (squared >= kFar * kFar) return true;
    }
    return false;
  }

  /// From the value `here` to the lowest one on one side; NaN outside the frame.
  double fall(const Place& at, const Place& direction, double side, double here) const {
    double lowest = std::numeric_limits<double>::quiet_NaN();
    for (const double distance : kDistances) {
      const std::optional<Index3> place = voxel_at(at, direction, side * distance);
      if (!place) break;
      lowest = std::fmin(lowest, mean_at(*place));
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
                   std::vector<ChosenSpot>& spots, bool far) {
  return visit_voxels(frame.voxels, [&](auto voxels) -> OnLines {
    const Surroundings around(voxels.data(), frame.shape, filter, polarity);
    const std::size_t step = (spots.size() + kSample - 1) / kSample;
    std::size_t tested = 0, found = 0, going_on = 0;
    if (neighbours_of(static_cast<double>(spots.size()), filter, frame.shape) > kCrowded) far = false;
    for (std::size_t i = 0; i < spots.size(); i += step, ++tested) {
      if (!around.on_line(spots[i].voxel)) continue;
      ++found;
      if (far && around.goes_on(spots[i].voxel)) ++going_on;
    }
    const auto of_tested = [&](double share) { return share * static_cast<double>(tested); };
    if (found < kFewest || static_cast<double>(found) < of_tested(kFewShare)) {
      if (step > 1 || going_on == 0) return {};
      return {std::erase_if(spots,
                            [&](const ChosenSpot& one) {
                              return around.on_line(one.voxel) && around.goes_on(one.voxel);
                            }),
              false};
    }
    const double apart = static_cast<double>(tested - found) / static_cast<double>(tested);
    if (neighbours_of(apart * static_cast<double>(spots.size()), filter, frame.shape) > kNeighbours)
      return {};
    if (static_cast<double>(found) > of_tested(kMostShare) && 2 * going_on < found) return {0, true};
    return {std::erase_if(spots, [&](const ChosenSpot& one) { return around.on_line(one.voxel); }), false};
  });
}

}  // namespace motes::tracking::detect
