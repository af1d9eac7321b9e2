#include "tracking/link/large/sample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <motes/base/index.h>

#include "tracking/link/large/blocks.h"
#include "tracking/link/series/gap_shares.h"

namespace motes::tracking {
namespace {

/// Size of the part, relative to the smallest series that is sampled.
constexpr double kShare = 0.3;
/// Least number of detections in the cube; with fewer, too many tracks cross its sides.
constexpr std::int64_t kLeastOfFrame = 500;
/// Detections within this distance of the middle are inner ones, in units of half the side.
constexpr double kInner = 0.75;
/// Least ratio of whole to part for which a part saves time.
constexpr std::int64_t kTimes = 3;
/// The same for a part in time.
constexpr double kTimesInTime = 2.5;

double median_of(const std::vector<Vec3>& points, double Vec3::*axis) {
  std::vector<double> values;
  values.reserve(points.size());
  for (const Vec3& p : points) values.push_back(p.*axis);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<MiddlePart> middle_part(const Execution& execution, const SeriesPoints& points,
                                      std::int64_t most) {
  const auto all = static_cast<std::int64_t>(points.size());
  const auto wanted = std::max(static_cast<std::int64_t>(kShare * static_cast<double>(most)),
                               kLeastOfFrame * points.frames());
  if (all <= most || all < kTimes * wanted) return std::nullopt;
  const Vec3 middle{median_of(points.at, &Vec3::x), median_of(points.at, &Vec3::y),
                    median_of(points.at, &Vec3::z)};
  std::vector<double> off;
  off.reserve(points.size());
  for (const Vec3& p : points.at)
    off.push_back(std::max({std::abs(p.x - middle.x), std::abs(p.y - middle.y), std::abs(p.z - middle.z)}));
  std::vector<double> sorted = off;
  const auto last = sorted.begin() + wanted - 1;
  std::nth_element(sorted.begin(), last, sorted.end());
  std::vector<char> keep(points.size());
  std::int64_t kept = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) kept += keep[i] = off[i] <= *last;
  if (all < kTimes * kept) return std::nullopt;
  MiddlePart part{take_part(points, keep, execution), {}};
  part.points.density = points.density;
  part.points.spacing_um = points.spacing_um;
  if (!points.crowding.empty())
    for (const matching::Index i : part.whole) part.points.crowding.push_back(points.crowding[at(i)]);
  part.points.partners = points.partners;
  part.inner.reserve(part.whole.size());
  for (const matching::Index i : part.whole) part.inner.push_back(off[at(i)] <= kInner * *last);
  return part;
}

std::optional<MiddlePart> middle_frames(const SeriesPoints& points, std::int64_t most, int lags) {
  const auto all = static_cast<std::int64_t>(points.size()), middle = all / 2;
  if (all <= most) return std::nullopt;
  const auto wanted = static_cast<std::int64_t>(kShare * static_cast<double>(most));
  const auto frame_of = [&](std::int64_t place) {
    return std::upper_bound(points.offset.begin(), points.offset.end(), place) - points.offset.begin() - 1;
  };
  auto first = frame_of(middle - wanted / 2), last = frame_of(middle + wanted / 2) + 1;
  // The part must not count as a series of few frames.
  auto frames = last - first;
  while (few_frames(static_cast<std::int32_t>(frames), lags)) ++frames;
  if (kTimesInTime * static_cast<double>(frames) > points.frames()) return std::nullopt;
  first = std::clamp<std::int64_t>((first + last - frames) / 2, 0, points.frames() - frames);
  last = first + frames;
  SeriesBlock block = take_block(
      points, {.first = static_cast<std::int32_t>(first), .last = static_cast<std::int32_t>(last)}, {});
  MiddlePart part{{std::move(block.points), std::move(block.whole), {}}, {}, block.first_frame};
  part.points.inner.clear();
  return part;
}

std::vector<double> of_part(const SeriesPart& part, const std::vector<double>& values) {
  std::vector<double> out;
  out.reserve(part.whole.size());
  for (const matching::Index i : part.whole) out.push_back(values[at(i)]);
  return out;
}

}  // namespace motes::tracking
