/// Which radius? Responses at several scales cannot be compared by their strongest maxima: at small scales
/// these are noise. So: (1) on a ladder of scales, equal along all axes in um, spots are chosen as
/// detect_spots does (choice.h), and each counts by how far its score is over the level and by its amplitude;
/// the scale of the largest sum gives the spots; (2) Gaussians with free widths are fitted to the best of
/// them, starting from that scale, and again from the medians of the widths found, which are the answer.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <motes/base/quantile.h>
#include <motes/tracking/log_detector.h>

#include "tracking/detect/choice.h"
#include "tracking/detect/gaussian_fit.h"
#include "tracking/detect/hot_voxels.h"
#include "tracking/detect/maxima.h"
#include "tracking/detect/response.h"
#include "tracking/detect/threshold.h"

namespace motes::tracking {
namespace {

constexpr double kSmallest = 0.7;                        // sigma, voxels of the finest axis
constexpr int kScales = 9;                               // ratio of neighbours sqrt(2)
constexpr double kLeastSigma = 0.35;                     // voxels of any axis
constexpr double kWellOver = 3;                          // times the level: counts fully
constexpr double kLeastClear = 0.05;                     // one spot 1.3 times over the level
constexpr std::size_t kSpots = 150;                      // fitted
constexpr int kRounds = 4;                               // of fits
constexpr double kWidthSpread = 0.7;                     // of the fits' prior, in ln sigma
constexpr std::int64_t kVoxels = std::int64_t{1} << 21;  // larger frames are cropped around their middle

using Sigma = std::array<double, 3>;  // um; x, y, z

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

/// How well the spots stand out, 0 where they hardly do (nine scales are looked at: nine chances for noise).
double sum_of_evidence(const detect::Choice& choice, double scale) {
  double clear = 0, sum = 0;
  for (const detect::ChosenSpot& spot : choice.spots) {
    const double over =
        std::min(1.0, std::log(std::max(1.0, spot.score / choice.level)) / std::log(kWellOver));
    clear += over * over;
    sum += over * over * std::sqrt(std::max(0.0, spot.amplitude));
  }
  return clear > kLeastClear ? sum * std::cbrt(scale) : 0;
}

detect::Filter filter_of(const VolumeFrame& frame, const Sigma& sigma) {
  const int d = static_cast<int>(frame.shape.nx > 1) + static_cast<int>(frame.shape.ny > 1) +
                static_cast<int>(frame.shape.nz > 1);
  const double factor = std::sqrt(static_cast<double>(std::max(d, 1)));
  return detect::make_filter(frame.shape, frame.voxel_um,
                             {factor * sigma[0], factor * sigma[1], factor * sigma[2]}, kLeastSigma);
}

/// Is the scale small enough for the frame to hold spots and what is around them?
bool fits_in(const VolumeFrame& frame, const detect::Filter& filter) {
  const std::array<std::int64_t, 3> size{frame.shape.nx, frame.shape.ny, frame.shape.nz};
  for (std::size_t a = 0; a < 3; ++a)
    if (size[a] > 6 && filter.sigma[a] > static_cast<double>(size[a]) / 3) return false;
  return true;
}

struct Scale {
  Sigma sigma{};
  double evidence = 0;
  std::vector<detect::ChosenSpot> spots;
};

/// The scale at which spots stand out most; evidence 0 if there is none at any.
Scale best_scale(const Execution& execution, VolumeFrame& frame, Polarity polarity) {
  const double finest = std::min({frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z});
  Scale best;
  bool repaired = false;
  for (int i = 0; i < kScales; ++i) {
    const double um = kSmallest * finest * std::exp2(0.5 * i);
    const detect::Filter filter = filter_of(frame, {um, um, um});
    if (i > 2 && !fits_in(frame, filter)) break;
    const auto chosen = [&] {
      const detect::ValueRange range = detect::check_frame(execution, frame);
      const detect::Response response(execution, frame, filter, polarity, range.low);
      const float floor = detect::rounding_floor(filter, range);
      return detect::choose_spots(execution, frame, filter, response, polarity, floor,
                                  detect::local_maxima(execution, response, floor));
    };
    detect::Choice choice = chosen();
    // At the finest scales spots themselves are little more than one voxel.
    if (choice.hot_voxels && !repaired) {
      repaired = true;
      if (auto clean = detect::without_hot_voxels(execution, frame, polarity)) {
        frame = std::move(*clean);
        choice = chosen();
      }
    }
    const double evidence = sum_of_evidence(choice, um / finest);
    if (evidence > best.evidence) best = {{um, um, um}, evidence, std::move(choice.spots)};
  }
  return best;
}

/// The best spots, the very best ones thinned out: outliers are often not of the spots' kind.
std::vector<detect::FitStart> starts_of(std::vector<detect::ChosenSpot> spots, Polarity polarity) {
  std::stable_sort(spots.begin(), spots.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  const std::size_t step = spots.size() >= 2 * kSpots ? 2 : 1;
  std::vector<detect::FitStart> starts;
  for (std::size_t i = 0; i < spots.size() && starts.size() < kSpots; i += step) {
    const detect::Voxel& v = spots[i].voxel;
    starts.push_back({{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)},
                      (polarity == Polarity::bright ? 1 : -1) * std::abs(spots[i].amplitude)});
  }
  return starts;
}

/// Medians of the widths of Gaussians fitted from these starts and this sigma on; none where most fits fail,
/// as they do on structure that is no spot.
std::optional<Sigma> fitted_sigma(const Execution& execution, const VolumeFrame& frame,
                                  std::vector<detect::FitStart> starts, Sigma sigma) {
  const std::array<double, 3> voxel{frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z};
  const double finest = std::min({voxel[0], voxel[1], voxel[2]});
  for (int round = 0; round < kRounds; ++round) {
    const detect::Filter filter = filter_of(frame, sigma);
    const auto fits = detect::fit_spots(execution, frame, filter, starts, {kWidthSpread});
    std::vector<double> across, along;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      if (!fits[i].good) continue;
      starts[i].place = fits[i].place;
      across.push_back(fits[i].sigma[0] * voxel[0]);
      along.push_back(fits[i].sigma[2] * voxel[2]);
    }
    if (3 * across.size() < fits.size()) return std::nullopt;
    sigma[0] = sigma[1] = std::max(quantile(across, 0.5), kLeastSigma * finest);
    if (frame.shape.nz > 1)
      sigma[2] = std::clamp(quantile(along, 0.5), kLeastSigma * voxel[2],
                            std::max(kLeastSigma, static_cast<double>(frame.shape.nz) / 3) * voxel[2]);
  }
  return sigma;
}

}  // namespace

std::optional<Vec3> estimate_radius(const Execution& execution, const VolumeFrame& given, Polarity polarity) {
  const detect::ValueRange whole_range = detect::check_frame(execution, given);
  if (!(whole_range.high > whole_range.low)) return std::nullopt;
  VolumeFrame frame = crop(given);
  const detect::ValueRange range = detect::check_frame(execution, frame);
  if (!(range.high > range.low)) return std::nullopt;
  const Scale best = best_scale(execution, frame, polarity);
  if (!(best.evidence > 0)) return std::nullopt;
  const std::optional<Sigma> sigma =
      fitted_sigma(execution, frame, starts_of(best.spots, polarity), best.sigma);
  if (!sigma) return std::nullopt;
  const int d = static_cast<int>(frame.shape.nx > 1) + static_cast<int>(frame.shape.ny > 1) +
                static_cast<int>(frame.shape.nz > 1);
  const double factor = std::sqrt(static_cast<double>(std::max(d, 1)));
  return Vec3{factor * (*sigma)[0], factor * (*sigma)[1], factor * (*sigma)[2]};
}

}  // namespace motes::tracking
