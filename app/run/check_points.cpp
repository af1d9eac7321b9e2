/// Checks of points before linking.

#include "app/run/check_points.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/hash.h>
#include <motes/base/parallel_for.h>
#include <motes/tracking/linker.h>

namespace motes::app {
namespace {

constexpr double kLeastExtent = 1e-100;

std::uint64_t place_hash(const Detections& frame, std::size_t i) {
  std::uint64_t hash = 0;
  for (const double x : {frame.x_um[i], frame.y_um[i], frame.z_um[i]})
    hash = splitmix64(hash ^ std::bit_cast<std::uint64_t>(x + 0.0));  // -0 is 0
  return hash | 1;                                                    // never 0, which marks an empty entry
}

struct Copies {
  std::vector<std::size_t> repeats;    ///< points at a place where an earlier one is
  std::optional<std::size_t> crowded;  ///< the first point of more than kMostCoincident at its place
};

/// Sets a bit and returns whether it was set before.
bool set_bit(std::vector<std::uint64_t>& bits, std::uint64_t at) {
  const std::uint64_t bit = std::uint64_t{1} << (at % 64);
  std::uint64_t& word = bits[at / 64];
  const bool was_set = (word & bit) != 0;
  word |= bit;
  return was_set;
}

/// Points that may coincide with another, with a few that do not. A filter of some bits per point stays in
/// the cache; a table of all places would not.
std::vector<std::pair<std::size_t, std::uint64_t>> suspects_of(const Detections& frame) {
  constexpr std::uint64_t kBits = 16;  // per point
  const std::uint64_t count = std::bit_ceil(kBits * frame.size() + 64), mask = count - 1;
  std::vector<std::uint64_t> seen(count / 64), again(count / 64);
  std::vector<std::uint64_t> hashes(frame.size());
  for (std::size_t i = 0; i < frame.size(); ++i) {
    hashes[i] = place_hash(frame, i);
    const std::uint64_t bit = (hashes[i] >> 1) & mask;
    if (set_bit(seen, bit)) set_bit(again, bit);
  }
  std::vector<std::pair<std::size_t, std::uint64_t>> suspects;
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const std::uint64_t bit = (hashes[i] >> 1) & mask;
    if ((again[bit / 64] >> (bit % 64) & 1) != 0) suspects.emplace_back(i, hashes[i]);
  }
  return suspects;
}

/// Positions are compared by 64-bit hashes; a collision within a frame is practically impossible.
Copies copies_in(const Detections& frame) {
  Copies copies;
  struct Place {
    std::uint64_t hash = 0;
    std::uint32_t points = 0;
  };
  const auto suspects = suspects_of(frame);
  std::vector<Place> places(std::bit_ceil(2 * suspects.size()));
  const std::size_t mask = places.size() - 1;
  for (const auto& [i, hash] : suspects) {
    std::size_t at = (hash >> 1) & mask;
    while (places[at].hash != 0 && places[at].hash != hash) at = (at + 1) & mask;
    places[at].hash = hash;
    if (places[at].points > 0) copies.repeats.push_back(i);
    if (++places[at].points > tracking::kMostCoincident && !copies.crowded) copies.crowded = i;
  }
  return copies;
}

std::vector<Copies> copies_of(const Execution& execution, const std::vector<Detections>& frames) {
  std::vector<Copies> copies(frames.size());
  parallel_for(thread_count(execution), std::ssize(frames), [&](std::int64_t k) {
    copies[static_cast<std::size_t>(k)] = copies_in(frames[static_cast<std::size_t>(k)]);
  });
  return copies;
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
    throw InputError(fmt::format(
        "{}: all points lie within {:.3g} of each other, too close to compare distances; give them "
        "in a smaller unit",
        source, extent));
}

}  // namespace

PointCheck check_points(const Execution& execution, const std::vector<Detections>& frames,
                        const std::string& source) {
  check_extent(frames, source);
  const std::vector<Copies> copies = copies_of(execution, frames);
  PointCheck out;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Detections& frame = frames[k];
    out.repeats += copies[k].repeats.size();
    if (!copies[k].crowded || !out.crowd.empty()) continue;
    const std::size_t i = *copies[k].crowded;
    out.crowd =
        fmt::format("more than {} points of frame {} lie at the same place ({:g}, {:g}, {:g})",
                    tracking::kMostCoincident, frame.frame, frame.x_um[i], frame.y_um[i], frame.z_um[i]);
  }
  return out;
}

std::vector<Detections> distinct_points(const Execution& execution, const std::vector<Detections>& frames) {
  const std::vector<Copies> copies = copies_of(execution, frames);
  std::vector<Detections> out(frames.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    out[k].frame = frames[k].frame;
    auto repeat = copies[k].repeats.begin();
    for (std::size_t i = 0; i < frames[k].size(); ++i) {
      if (repeat != copies[k].repeats.end() && *repeat == i) {
        ++repeat;
        continue;
      }
      out[k].x_um.push_back(frames[k].x_um[i]);
      out[k].y_um.push_back(frames[k].y_um[i]);
      out[k].z_um.push_back(frames[k].z_um[i]);
    }
  }
  return out;
}

}  // namespace motes::app
