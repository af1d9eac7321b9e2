/// Tells whether spots of two sizes fit a frame. Textured nuclei show many small spots in few wide objects,
/// and so do cells that hold spots. Both sizes are reported if the small spots lie within the wide objects,
/// many to each, and these cover little of the frame. Haze around spots is much fainter than the spots.
/// Groups of spots form no wide objects, or have few spots each. Grain of noise in nuclei is less clear than
/// the nuclei.
///
/// Only the user knows which size is meant. As in scale_space.h, spots that are clearly fainter than the
/// objects around them are taken for their grain. Parts of a sheet of touching spots respond like wide
/// objects, but their surroundings are as bright as they are.

#include "tracking/detect/size/rival_size.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include <motes/base/quantile.h>

#include "tracking/motion/near_points.h"

namespace motes::tracking::detect {
namespace {

constexpr double kRatio = 2.5;          // least ratio of the two sizes
constexpr double kStep = 1.4142135624;  // ratio of neighbouring scales
constexpr double kReach = 1.2;          // within this many radii a spot lies in a wide object
constexpr std::size_t kFewestWide = 3;  // least number of wide objects
constexpr std::size_t kMany = 5;        // least number of small spots in each, on average
constexpr double kShare = 0.5;          // least share of the small spots that lie in wide objects,
constexpr double kDenser = 2;           // and its least ratio to the share of the frame that these cover
constexpr double kNearer = 0.7;         // most distance of clustered spots, relative to points spread evenly
constexpr double kAsStrong = 0.8;       // least response of wide objects, relative to the small spots
constexpr double kStandsOut = 1.8;      // from this ratio on they stand out; discs as bright as spots: 1.5
constexpr std::size_t kPlaces = 4096;   // points spread evenly over the frame
constexpr double kSmallest = 0.7;       // least sigma, in voxels
constexpr double kOutside = 1.5;        // distance in radii at which surroundings are examined
constexpr int kDirections = 32;         // points there
constexpr double kLeastFall = 0.5;      // least fall of brightness around objects that stand out
constexpr double kDiscs = 8;            // the frame has room for this many of the widest objects,
constexpr double kDisc = 6.28;          // each of this area, in sigma squared

double median_of(std::vector<double> values) { return quantile(values, 0.5); }

/// What is found at one size.
struct Found {
  Vec3 radius;
  Detections spots;

  double response() const { return median_of(spots.quality); }
  double score() const { return median_of(spots.properties.front().values); }
};

int dimensions(const Shape3& shape) {
  return std::max(
      1, static_cast<int>(shape.nx > 1) + static_cast<int>(shape.ny > 1) + static_cast<int>(shape.nz > 1));
}

Found found_at(const Execution& execution, const VolumeFrame& frame, Polarity polarity, const Vec3& radius) {
  DetectionOptions options;
  options.polarity = polarity;
  options.radius_um = radius;
  options.keep_lines = true;  // texture in wide objects has lines
  return {radius, detect_spots(execution, frame, options)};
}

/// Positions in `unit` along each axis.
std::vector<Vec3> places_of(const Detections& spots, const Vec3& unit) {
  std::vector<Vec3> places;
  places.reserve(spots.size());
  for (std::size_t i = 0; i < spots.size(); ++i)
    places.push_back({spots.x_um[i] / unit.x, spots.y_um[i] / unit.y, spots.z_um[i] / unit.z});
  return places;
}

/// kPlaces of them, which fill the frame evenly: an additive sequence, whose steps are powers of the root of
/// s^4 = s + 1.
std::vector<Vec3> even_places(const VolumeFrame& frame, const Vec3& unit) {
  const auto at = [](std::size_t i, double step, std::int64_t size, double voxel) {
    const double turns = static_cast<double>(i + 1) * step;
    return (turns - std::floor(turns)) * static_cast<double>(size - 1) * voxel;
  };
  std::vector<Vec3> places;
  for (std::size_t i = 0; i < kPlaces; ++i)
    places.push_back({at(i, 0.8191725134, frame.shape.nx, frame.voxel_um.x) / unit.x,
                      at(i, 0.6710436067, frame.shape.ny, frame.voxel_um.y) / unit.y,
                      at(i, 0.5497004779, frame.shape.nz, frame.voxel_um.z) / unit.z});
  return places;
}

/// Whether spots have others far nearer to them than places of the frame have, by the median.
bool are_clustered(const VolumeFrame& frame, const Detections& spots) {
  const Vec3 um{1, 1, 1};
  const std::vector<Vec3> points = places_of(spots, um);
  const NearPoints nearby(points);
  const auto median_distance = [&](const std::vector<Vec3>& places, std::size_t neighbours) {
    std::vector<std::size_t> index(neighbours);
    std::vector<double> squared(neighbours), distances;
    const std::size_t step = 1 + places.size() / kPlaces;
    for (std::size_t i = 0; i < places.size(); i += step) {
      nearby.nearest(places[i], neighbours, index.data(), squared.data());
      distances.push_back(std::sqrt(squared.back()));
    }
    return median_of(std::move(distances));
  };
  // A spot is its own nearest neighbour.
  return median_distance(points, kMany) < kNearer * median_distance(even_places(frame, um), kMany - 1);
}

/// How the small spots lie: how many within the wide objects, and which share of the frame these cover.
struct Layout {
  std::size_t within = 0;
  double share = 0;
};

Layout layout_of(const VolumeFrame& frame, const Found& wide, const Found& small) {
  const std::vector<Vec3> centres = places_of(wide.spots, wide.radius);
  const NearPoints nearby(centres);
  constexpr double kMost = kReach * kReach;
  const auto count_within = [&](const std::vector<Vec3>& places) {
    return static_cast<std::size_t>(std::count_if(places.begin(), places.end(), [&](const Vec3& p) {
      return std::isfinite(nearby.nearest_squared(p, kMost));
    }));
  };
  return {count_within(places_of(small.spots, wide.radius)),
          static_cast<double>(count_within(even_places(frame, wide.radius))) / static_cast<double>(kPlaces)};
}

/// Whether the small ones lie in the wide ones, many to each.
bool lie_within(const VolumeFrame& frame, const Found& wide, const Found& small) {
  const std::size_t least = kMany * wide.spots.size();
  if (wide.spots.size() < kFewestWide || small.spots.size() < least) return false;
  const Layout layout = layout_of(frame, wide, small);
  const double within = static_cast<double>(layout.within) / static_cast<double>(small.spots.size());
  return layout.within >= least && within >= kShare && within >= kDenser * layout.share;
}

/// The median fall of brightness around wide objects: 1 if it falls to the background, 0 if the objects are
/// parts of a sheet of spots.
double fall_around(const VolumeFrame& frame, Polarity polarity, const Found& wide) {
  const Vec3 voxel = frame.voxel_um;
  const std::vector<Vec3> centres = places_of(wide.spots, wide.radius);
  const NearPoints nearby(centres);
  const double sign = polarity == Polarity::bright ? 1 : -1;
  return visit_voxels(frame.voxels, [&](auto voxels) {
    // Adds the voxel at a place in radii, if the frame has it.
    const auto add = [&](const Vec3& place, std::vector<double>& values) {
      const auto x = std::lround(place.x * wide.radius.x / voxel.x),
                 y = std::lround(place.y * wide.radius.y / voxel.y),
                 z = std::lround(place.z * wide.radius.z / voxel.z);
      if (x < 0 || y < 0 || z < 0 || x >= frame.shape.nx || y >= frame.shape.ny || z >= frame.shape.nz)
        return;
      const std::int64_t voxel_index = (z * frame.shape.ny + y) * frame.shape.nx + x;
      values.push_back(sign * static_cast<double>(voxels[static_cast<std::size_t>(voxel_index)]));
    };
    std::vector<double> outside;
    for (const Vec3& p : even_places(frame, wide.radius))
      if (!std::isfinite(nearby.nearest_squared(p, kOutside * kOutside))) add(p, outside);
    if (outside.empty()) return 0.0;
    const double background = median_of(std::move(outside));
    std::vector<double> falls;
    for (const Vec3& c : centres) {
      std::vector<double> inside, around;
      for (int k = 0; k < kDirections; ++k) {
        const double angle = 2 * std::numbers::pi * k / kDirections, x = std::cos(angle), y = std::sin(angle);
        for (const double r : {0.15, 0.3, 0.45, 0.6}) add({c.x + r * x, c.y + r * y, c.z}, inside);
        add({c.x + kOutside * x, c.y + kOutside * y, c.z}, around);
      }
      if (inside.empty() || around.empty()) continue;
      const double here = median_of(std::move(inside));
      if (here > background) falls.push_back((here - median_of(std::move(around))) / (here - background));
    }
    return falls.empty() ? 0.0 : median_of(std::move(falls));
  });
}

/// The wide objects in which the spots lie; of several scales the one at which they respond most.
std::optional<Rival> wider_than(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                                const Found& spots) {
  if (spots.spots.size() < kMany * kFewestWide || !are_clustered(frame, spots.spots)) return std::nullopt;
  const double factor = std::sqrt(static_cast<double>(dimensions(frame.shape)));
  const double area = static_cast<double>(frame.shape.nx) * frame.voxel_um.x *
                      static_cast<double>(frame.shape.ny) * frame.voxel_um.y;
  const double most = factor * std::sqrt(area / (kDiscs * kDisc));
  const double deep = factor * static_cast<double>(frame.shape.nz) * frame.voxel_um.z / 3;
  const double typical = spots.response();
  std::optional<Rival> best;
  double strongest = kAsStrong * typical;
  for (double radius = kRatio * spots.radius.x; radius <= most; radius *= kStep) {
    const Vec3 um{radius, radius, std::min(radius, std::max(deep, spots.radius.z))};
    const Found wide = found_at(execution, frame, polarity, um);
    if (!lie_within(frame, wide, spots) || wide.response() < strongest) continue;
    strongest = wide.response();
    best = {{um, wide.spots.size(), spots.spots.size()},
            strongest >= kStandsOut * typical && fall_around(frame, polarity, wide) >= kLeastFall};
  }
  return best;
}

/// The spots that lie in the wide objects; of several scales the one at which they are clearest.
std::optional<Rival> finer_than(const Execution& execution, const VolumeFrame& frame, Polarity polarity,
                                const Found& wide) {
  if (wide.spots.size() < kFewestWide) return std::nullopt;
  const double factor = std::sqrt(static_cast<double>(dimensions(frame.shape)));
  const double least = factor * kSmallest * std::min({frame.voxel_um.x, frame.voxel_um.y, frame.voxel_um.z});
  std::optional<Rival> best;
  double clearest = wide.score();
  for (double radius = wide.radius.x / kRatio; radius >= least; radius /= kStep) {
    const Vec3 um{radius, radius, std::min(radius, wide.radius.z)};
    const Found small = found_at(execution, frame, polarity, um);
    if (!lie_within(frame, wide, small) || small.score() < clearest) continue;
    clearest = small.score();
    best = {{um, small.spots.size(), wide.spots.size()}, false};
  }
  return best;
}

}  // namespace

std::optional<Rival> find_rival(const Execution& execution, const VolumeFrame& frame, const Vec3& radius_um,
                                Polarity polarity) {
  const Found taken = found_at(execution, frame, polarity, radius_um);
  if (taken.spots.size() == 0) return std::nullopt;
  if (const auto wider = wider_than(execution, frame, polarity, taken)) return wider;
  return finer_than(execution, frame, polarity, taken);
}

}  // namespace motes::tracking::detect
