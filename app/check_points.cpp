/// Checks of points before linking.

#include "app/check_points.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/hash.h>
#include <motes/base/parallel_for.h>

namespace motes::app {
namespace {

constexpr double kLeastExtent = 1e-100;

std::uint64_t place_hash(const Detections& frame, std::size_t i) {
  std::uint64_t hash = 0;
  for (const double x : {frame.x_um[i], frame.y_um[i], frame.z_um[i]})
    hash = splitmix64(hash ^ std::bit_cast<std::uint64_t>(x + 0.0));  // -0 is 0
  return hash | 1;                                                    // 0: nothing yet
}

struct Crowd {
  std::size_t point = 0;    ///< of a place that holds more than kMostAtOnePlace; the frame's size: none
  std::size_t repeats = 0;  ///< points at a place where an earlier one is
};

/// Positions are compared by 64-bit hashes; a collision within a frame is practically impossible.
Crowd crowd_of(const Detections& frame) {
  Crowd crowd{frame.size(), 0};
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t points = 0;
  };
  std::vector<Place> places(std::bit_ceil(2 * frame.size()));
  const std::size_t mask = places.size() - 1;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const std::uint64_t hash = place_hash(frame, i);
    std::size_t at = (hash >> 1) & mask;
    while (places[at].hash != 0 && places[at].hash != hash) at = (at + 1) & mask;
    places[at].hash = hash;
    if (places[at].points > 0) ++crowd.repeats;
    if (++places[at].points > kMostAtOnePlace) {
      crowd.point = i;
      return crowd;
    }
  }
  return crowd;
}

void check_extent(const std::vector<Detections>& frames, const std::string& source) {
  double extent = 0;
  for (const auto axis : {&Detections::x_um, &Detections::y_um, &Detections::z_um}) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Detections& frame : frames)
      for (const double x : frame.*axis) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
    extent = std::max(extent, high - low);
  }
  if (extent > 0 && extent < kLeastExtent)
    throw InputError(
        fmt::format("{}: all points lie within {:.3g} of each other, too near to tell distances; give them "
                    "in a smaller unit",
                    source, extent));
}

}  // namespace

std::size_t check_points(const Execution& execution, const std::vector<Detections>& frames,
                         const std::string& source) {
  check_extent(frames, source);
  std::vector<Crowd> crowds(frames.size());
  parallel_for(thread_count(execution), std::ssize(frames), [&](std::int64_t k) {
    crowds[static_cast<std::size_t>(k)] = crowd_of(frames[static_cast<std::size_t>(k)]);
  });
  std::size_t repeats = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Detections& frame = frames[k];
    const std::size_t crowded = crowds[k].point;
    repeats += crowds[k].repeats;
    if (crowded == frame.size()) continue;
    throw InputError(fmt::format(
        "{}: more than {} points of frame {} lie at the same place ({:g}, {:g}, {:g}); remove the copies",
        source, kMostAtOnePlace, frame.frame, frame.x_um[crowded], frame.y_um[crowded], frame.z_um[crowded]));
  }
  return repeats;
}

}  // namespace motes::app
