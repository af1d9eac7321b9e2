/// Which radius? Responses at several scales cannot simply be compared by their strongest maxima: at small
/// scales these are noise. So: (1) at each radius of a ladder, the strongest maxima over that scale's noise
/// level are found; the scale where they stand out most in sum gives the spots' places; (2) at these places,
/// which are now fixed, the responses of all scales are averaged, so that noise cancels instead of being
/// picked; (3) the scale of the largest average, by a parabola over the logarithm of the radius.

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <motes/tracking/log_detector.h>
#include "tracking/detect/response.h"

#include "tracking/detect/maxima.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking {
namespace {

constexpr double kSmallest = 1, kLargest = 8;  // radius, voxels of the finest axis
constexpr int kScales = 13;                    // ratio of neighbours 2^(1/4)
constexpr double kLeastSigma = 0.7;            // voxels of any axis
constexpr double kFalseSpots = 1e-4;           // of pure noise over all scales: one frame in some thousand
constexpr int kFactorSteps = 4;                // ladders of (4): 2^(1/4) between neighbours ...
constexpr int kLeastFactor = -4, kMostFactor = 8;        // ... from 1/2 to 4 for z / x,
constexpr int kAgainFactor = 3;                          // and 3 steps either way for x and y
constexpr std::size_t kSpots = 100;                      // the strongest ones
constexpr std::int64_t kVoxels = std::int64_t{1} << 21;  // larger frames are cropped around their middle

/// The strongest maxima of one scale.
struct Scale {
  double excess = 0;  ///< sum of their responses over the noise level; 0 without any spot
  std::vector<detect::Voxel> spots;
};

/// Central part of a frame with at most about kVoxels voxels; z is kept longest, being short.
VolumeFrame crop(const VolumeFrame& frame) {
  const Shape3 whole = frame.shape;
  Shape3 part = whole;
  while (part.voxels() > kVoxels) {
    std::int64_t& longest = part.nx >= part.ny && part.nx >= part.nz ? part.nx
                            : part.ny >= part.nz                     ? part.ny
                                                                     : part.nz;
    longest = longest - (longest + 9) / 10;
  }
  if (part == whole) return frame;
  VolumeFrame cropped;
  cropped.index = frame.index;
  cropped.shape = part;
  cropped.voxel_um = frame.voxel_um;
  std::visit(
      [&](const auto& source) {
        std::decay_t<decltype(source)> voxels;
        voxels.reserve(static_cast<std::size_t>(part.voxels()));
        for (std::int64_t z = 0; z < part.nz; ++z) {
          for (std::int64_t y = 0; y < part.ny; ++y) {
            const std::int64_t row = (z + (whole.nz - part.nz) / 2) * whole.ny + y + (whole.ny - part.ny) / 2;
            const auto first = source.begin() + row * whole.nx + (whole.nx - part.nx) / 2;
            voxels.insert(voxels.end(), first, first + part.nx);
          }
        }
        cropped.voxels = std::move(voxels);
      },
      frame.voxels);
  return cropped;
}

Scale strongest(const Execution& execution, const VolumeFrame& frame, const detect::Filter& filter,
                const detect::Response& response, detect::ValueRange range) {
  const double noise = detect::noise_deviation(response, frame, filter);
  const double floor = detect::rounding_floor(filter, range);
  const double level = detect::noise_level(filter, frame.shape, kFalseSpots);
  const double threshold = std::max(level * noise, floor);
  Scale scale;
  scale.spots = detect::local_maxima(execution, response, static_cast<float>(threshold));
  const auto value = [&](const detect::Voxel& v) { return response.at(v.z, v.y, v.x); };
  std::stable_sort(scale.spots.begin(), scale.spots.end(),
                   [&](const detect::Voxel& a, const detect::Voxel& b) { return value(a) > value(b); });
  if (scale.spots.size() > kSpots) scale.spots.resize(kSpots);
  for (const detect::Voxel& v : scale.spots) scale.excess += static_cast<double>(value(v)) - threshold;
  return scale;
}

double mean_response(const detect::Response& response, const std::vector<detect::Voxel>& spots) {
  double sum = 0;
  for (const detect::Voxel& v : spots) sum += static_cast<double>(response.at(v.z, v.y, v.x));
  return sum / static_cast<double>(spots.size());
}

/// Place of the largest value, as a fraction of the index, by a parabola through it and its neighbours.
double place_of_largest(const std::vector<double>& values) {
  const auto largest = std::max_element(values.begin(), values.end());
  const auto i = static_cast<double>(largest - values.begin());
  if (largest == values.begin() || largest + 1 == values.end()) return i;
  const double curvature = largest[-1] - 2 * largest[0] + largest[1];
  return curvature < 0 ? i + 0.5 * (largest[-1] - largest[1]) / curvature : i;
}

}  // namespace

std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& given, Polarity polarity) {
  const detect::ValueRange whole_range = detect::check_frame(execution, given);
  if (!(whole_range.high > whole_range.low)) return std::nullopt;
  const VolumeFrame frame = crop(given);
  const detect::ValueRange range = detect::check_frame(execution, frame);
  if (!(range.high > range.low)) return std::nullopt;

  const Vec3& voxel = frame.voxel_um;
  double finest = voxel.x;
  if (frame.shape.ny > 1) finest = std::min(finest, voxel.y);
  if (frame.shape.nz > 1) finest = std::min(finest, voxel.z);
  const auto radius_at = [&](double place) {
    return finest * kSmallest * std::pow(kLargest / kSmallest, place / (kScales - 1));
  };
  const auto response_at = [&](const Vec3& radius) {
    const detect::Filter filter = detect::make_filter(frame.shape, voxel, radius, kLeastSigma);
    return std::pair(filter, detect::Response(execution, frame, filter, polarity, range.low));
  };
  const auto isotropic = [](double radius) { return Vec3{radius, radius, radius}; };

  Scale best;
  for (int i = 0; i < kScales; ++i) {
    const auto [filter, response] = response_at(isotropic(radius_at(i)));
    Scale scale = strongest(execution, frame, filter, response, range);
    if (scale.excess > best.excess) best = std::move(scale);
  }
  if (best.spots.empty()) return std::nullopt;

  const auto place_on_ladder = [&](int first, int last, const auto& radius_of) {
    std::vector<double> means;
    for (int i = first; i <= last; ++i)
      means.push_back(mean_response(response_at(radius_of(i)).second, best.spots));
    return first + place_of_largest(means);
  };
  const auto factor = [](double place) { return std::exp2(place / kFactorSteps); };

  Vec3 radius =
      isotropic(radius_at(place_on_ladder(0, kScales - 1, [&](int i) { return isotropic(radius_at(i)); })));
  if (frame.shape.nz > 1) {
    const double most = std::max(radius.z, 0.5 * static_cast<double>(frame.shape.nz) * voxel.z);
    const auto longer = [&](double place) { return Vec3{radius.x, radius.y, radius.x * factor(place)}; };
    const auto wider = [&](double place) {
      return Vec3{radius.x * factor(place), radius.y * factor(place), radius.z};
    };
    const auto fit_z = [&] {
      radius.z = std::min(most, longer(place_on_ladder(kLeastFactor, kMostFactor, longer)).z);
    };
    fit_z();
    radius = wider(place_on_ladder(-kAgainFactor, kAgainFactor, wider));
    fit_z();
  }
  const double least = kLeastSigma * std::sqrt(frame.shape.nz > 1 ? 3.0 : frame.shape.ny > 1 ? 2.0 : 1.0);
  return Vec3{std::max(radius.x, least * voxel.x), std::max(radius.y, least * voxel.y),
              std::max(radius.z, least * voxel.z)};
}

}  // namespace motes::tracking
