/// Points are read track by track and written frame by frame. Threads take ranges of tracks and count the
/// points of each frame in each range; the counts then determine the places to write to. After this, frames
/// are processed independently. Random numbers depend on the track and the frame (or the track and the number
/// of the blink), so neither ranges nor threads change the result.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <motes/base/index.h>
#include <motes/base/large_pages.h>
#include <motes/base/parallel_for.h>
#include <motes/base/random.h>
#include <motes/base/stop.h>
#include <motes/sim/faults.h>
#include <motes/sim/stoppable.h>

#include "sim/motion/flow.h"
#include "sim/motion/point_grid.h"
#include "sim/motion/records.h"
#include "sim/refuse.h"

namespace motes::sim {
namespace {

using detail::refuse, detail::require_at_least_0;

std::uint32_t word(std::int64_t i) { return static_cast<std::uint32_t>(i); }

/// A particle that alternates between bright and dark, each for exponentially distributed times.
class Blinker {
 public:
  Blinker(const FaultOptions& faults, std::uint64_t seed, std::size_t track, double start)
      : faults_(faults), seed_(seed), track_(static_cast<std::uint32_t>(track)), until_(start) {
    if (!(faults.blink_on_s > 0 && faults.blink_off_s > 0)) return;
    Random first(seed, RandomStream::blink, track_, 0);
    on_ = first.uniform() * (faults.blink_on_s + faults.blink_off_s) < faults.blink_on_s;
    stay(first);
  }

  /// Times must rise from call to call.
  bool visible(double time) {
    while (until_ <= time && faults_.blink_on_s > 0 && faults_.blink_off_s > 0) {
      on_ = !on_;
      Random next(seed_, RandomStream::blink, track_, ++changes_);
      stay(next);
    }
    return on_;
  }

 private:
  void stay(Random& random) {
    until_ += random.exponential() * (on_ ? faults_.blink_on_s : faults_.blink_off_s);
  }

  const FaultOptions& faults_;
  std::uint64_t seed_;
  std::uint32_t track_, changes_ = 0;
  double until_;
  bool on_ = true;
};

/// Calls see(point, frame) for the detected points of a track.
template <class See>
void seen_points(const TrackSet& truth, std::uint64_t seed, const FaultOptions& faults, std::size_t track,
                 const See& see) {
  const std::size_t begin = at(truth.track_offsets[track]), end = at(truth.track_offsets[track + 1]);
  if (begin == end) return;
  Blinker blinker(faults, seed, track, truth.time_s[begin]);
  for (std::size_t p = begin; p < end; ++p) {
    const std::int32_t frame = truth.frame[p];
    const bool visible = blinker.visible(truth.time_s[p]);
    if (faults.miss > 0 &&
        Random(seed, RandomStream::miss, static_cast<std::uint32_t>(track), word(frame)).uniform() <
            faults.miss)
      continue;
    if (visible) see(p, at(frame));
  }
}

/// The visible spots of one frame; before merging, each is of one particle.
struct Spots {
  std::vector<double> x, y, z;
  std::vector<std::uint32_t> track;
  std::size_t size() const { return x.size(); }
  void resize(std::size_t size) {
    size_large(x, size);
    size_large(y, size);
    size_large(z, size);
    size_large(track, size);
  }
};

/// Sorts the seen points into frames, by track within each.
std::vector<Spots> spots_by_frame(const Execution& execution, const TrackSet& truth,
                                  const MotionOptions& motion, const FaultOptions& faults) {
  const auto frames = at(motion.frames);
  const auto ranges = static_cast<std::int64_t>(thread_count(execution));
  const auto range_begin = [&](std::int64_t range) {
    return truth.tracks() * static_cast<std::size_t>(range) / static_cast<std::size_t>(ranges);
  };
  // next[range][frame]: first a count, then the position at which the range writes.
  std::vector<std::vector<std::size_t>> next(at(ranges), std::vector<std::size_t>(frames, 0));
  constexpr std::size_t kTracksAQuestion = 1024;
  const Stop stop = Stop::of_this_thread();
  const auto for_range = [&](std::int64_t range, const auto& see) {
    for (std::size_t t = range_begin(range); t < range_begin(range + 1); ++t) {
      if (t % kTracksAQuestion == 0) stop.check();
      seen_points(truth, motion.seed, faults, t,
                  [&](std::size_t point, std::size_t frame) { see(t, point, frame); });
    }
  };
  parallel_for(thread_count(execution), ranges, [&](std::int64_t range) {
    for_range(range, [&, &counts = next[at(range)]](std::size_t, std::size_t, std::size_t frame) {
      ++counts[frame];
    });
  });
  std::vector<Spots> spots(frames);
  parallel_for(thread_count(execution), motion.frames, [&](std::int64_t frame) {
    std::size_t sum = 0;
    for (auto& counts : next) sum += std::exchange(counts[at(frame)], sum);
    spots[at(frame)].resize(sum);
  });
  parallel_for(thread_count(execution), ranges, [&](std::int64_t range) {
    for_range(range, [&](std::size_t track, std::size_t point, std::size_t frame) {
      Spots& to = spots[frame];
      const std::size_t place = next[at(range)][frame]++;
      to.x[place] = truth.x_um[point];
      to.y[place] = truth.y_um[point];
      to.z[place] = truth.z_um[point];
      to.track[place] = static_cast<std::uint32_t>(track);
    });
  });
  return spots;
}

class Frame {
 public:
  Frame(std::int32_t number, double time, const MotionOptions& motion, const FaultOptions& faults,
        Spots spots)
      : motion_(motion), faults_(faults), number_(number), time_(time), spots_(std::move(spots)) {}

  void observe(Detections& detections, std::vector<Origin>& origins) {
    merge();
    add_noise();
    add_false();
    shuffle(detections, origins);
    detections.frame = number_;
    detections.time_s = time_;
  }

 private:
  std::uint32_t frame() const { return word(number_); }

  /// Merges spots. Groups are named by their first spot; `leader_` stays empty if nothing merges.
  void merge() {
    if (!(faults_.merge_um > 0) || spots_.size() < 2) return;
    std::vector<Vec3> points(spots_.size());
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = {spots_.x[i], spots_.y[i], spots_.z[i]};
    std::vector<std::size_t> leader(points.size());
    std::iota(leader.begin(), leader.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
      while (leader[i] != i) i = leader[i] = leader[leader[i]];
      return i;
    };
    const detail::PointGrid grid(points, faults_.merge_um);
    bool merged = false;
    for (std::size_t i = 0; i < points.size(); ++i)
      grid.around(points[i], [&](std::size_t j) {
        const Vec3 arm = points[i] - points[j];
        if (j >= i || !(squared_length(arm) < faults_.merge_um * faults_.merge_um)) return;
        const std::size_t a = root(i), b = root(j);
        leader[std::max(a, b)] = std::min(a, b);
        merged = true;
      });
    if (!merged) return;
    for (std::size_t i = 0; i < leader.size(); ++i) leader[i] = root(i);
    place_groups(points, leader);
  }

  void place_groups(const std::vector<Vec3>& points, const std::vector<std::size_t>& leader) {
    std::vector<Vec3> sum(points.size());
    std::vector<double> members(points.size(), 0.0), brightest(points.size(), -1.0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t group = leader[i];
      members[group] += 1;
      if (faults_.merge_into == MergeInto::mean) {
        sum[group] += points[i];
        continue;
      }
      const double brightness = Random(motion_.seed, RandomStream::brightness, spots_.track[i], 0).uniform();
      if (brightness <= brightest[group]) continue;
      brightest[group] = brightness;
      sum[group] = points[i];
    }
    Spots kept;
    detection_of_.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (leader[i] != i) {
        detection_of_[i] = detection_of_[leader[i]];  // a leader precedes its group
        continue;
      }
      detection_of_[i] = kept.size();
      const Vec3 place = faults_.merge_into == MergeInto::mean ? 1 / members[i] * sum[i] : sum[i];
      const bool alone = members[i] == 1;
      kept.x.push_back(alone ? points[i].x : place.x);
      kept.y.push_back(alone ? points[i].y : place.y);
      kept.z.push_back(alone ? points[i].z : place.z);
      kept.track.push_back(spots_.track[i]);
    }
    all_tracks_ = std::move(spots_.track);
    spots_ = std::move(kept);
  }

  void add_noise() {
    const Vec3& noise = faults_.noise_um;
    if (noise == Vec3{}) return;
    for (std::size_t i = 0; i < spots_.size(); ++i) {
      const auto n = normals_of(random_block(motion_.seed, RandomStream::noise, spots_.track[i], frame()));
      spots_.x[i] += noise.x * n[0];
      spots_.y[i] += noise.y * n[1];
      spots_.z[i] += noise.z * n[2];
    }
  }

  void add_false() {
    real_ = spots_.size();
    if (!(faults_.false_per_frame > 0)) return;
    Random random(motion_.seed, RandomStream::false_detection, frame(), 0);
    const std::int64_t count = random.poisson(faults_.false_per_frame);
    for (std::int64_t i = 0; i < count; ++i) {
      spots_.x.push_back(random.uniform() * motion_.box_um.x);
      spots_.y.push_back(random.uniform() * motion_.box_um.y);
      spots_.z.push_back(random.uniform() * motion_.box_um.z);
    }
  }

  /// Fisher-Yates shuffle by the seed, since the order must not reveal identities.
  void shuffle(Detections& detections, std::vector<Origin>& origins) {
    std::vector<std::uint32_t> order(spots_.size());
    std::iota(order.begin(), order.end(), 0U);
    Random random(motion_.seed, RandomStream::faults, frame(), 0);
    for (std::size_t left = order.size(); left > 1; --left) {
      const auto other = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
      std::swap(order[left - 1], order[other]);
    }
    for (const auto& [from, to] : {std::pair{&spots_.x, &detections.x_um},
                                   {&spots_.y, &detections.y_um},
                                   {&spots_.z, &detections.z_um}}) {
      size_large(*to, order.size());
      for (std::size_t i = 0; i < order.size(); ++i) (*to)[i] = (*from)[order[i]];
    }
    if (all_tracks_.empty()) {
      size_large(origins, order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        origins[i] = {static_cast<std::int64_t>(i),
                      order[i] < real_ ? spots_.track[order[i]] : std::int64_t{-1}};
      return;
    }
    std::vector<std::int64_t> row(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) row[order[i]] = static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < all_tracks_.size(); ++i)
      origins.push_back({row[detection_of_[i]], all_tracks_[i]});
    for (std::size_t i = real_; i < spots_.size(); ++i) origins.push_back({row[i], -1});
    std::sort(origins.begin(), origins.end(), [](const Origin& a, const Origin& b) {
      return a.detection != b.detection ? a.detection < b.detection : a.track < b.track;
    });
  }

  const MotionOptions& motion_;
  const FaultOptions& faults_;
  std::int32_t number_;
  double time_;
  Spots spots_;                            ///< first the seen spots; then merged, with false ones appended
  std::size_t real_ = 0;                   ///< number of spots that are not false
  std::vector<std::uint32_t> all_tracks_;  ///< tracks of the spots before merging; empty: nothing merged
  std::vector<std::size_t> detection_of_;  ///< [all_tracks_] the merged spot of each
};

}  // namespace

void check_options(const FaultOptions& faults) {
  require_at_least_0("faults.noise_um", faults.noise_um.z);
  require_at_least_0("faults.noise_um", faults.noise_um.y);
  require_at_least_0("faults.noise_um", faults.noise_um.x);
  if (!(faults.miss >= 0 && faults.miss <= 1))
    refuse("faults.miss", faults.miss, "is outside [0, 1]; give a probability");
  require_at_least_0("faults.blink_on_s", faults.blink_on_s);
  require_at_least_0("faults.blink_off_s", faults.blink_off_s);
  if ((faults.blink_on_s > 0) != (faults.blink_off_s > 0))
    refuse(faults.blink_on_s > 0 ? "faults.blink_off_s" : "faults.blink_on_s", 0,
           "while the other of blink_on_s and blink_off_s is set; give both, or neither");
  if (!(faults.false_per_frame >= 0 && faults.false_per_frame <= kMaxPoissonMean))
    refuse("faults.false_per_frame", faults.false_per_frame, "is not a number from 0 to 1e9; give one");
  require_at_least_0("faults.merge_um", faults.merge_um);
}

Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults) {
  return observe(execution, truth, motion, faults, {});
}

Observation observe(const Execution& execution, const TrackSet& truth, const MotionOptions& motion,
                    const FaultOptions& faults, const StopAsked& stop) {
  check_options(faults);
  std::vector<Spots> spots = spots_by_frame(execution, truth, motion, faults);
  const std::vector<double> times = frame_times(motion);
  Observation observation;
  observation.frames.resize(spots.size());
  observation.origins.resize(spots.size());
  parallel_for(thread_count(execution), motion.frames, [&](std::int64_t k) {
    if (stop && stop()) detail::throw_stopped();
    Frame frame(static_cast<std::int32_t>(k), times[at(k)], motion, faults, std::move(spots[at(k)]));
    frame.observe(observation.frames[at(k)], observation.origins[at(k)]);
  });
  return observation;
}

void note_detections(const Observation& observation, TrackSet& truth) {
  std::fill(truth.detection.begin(), truth.detection.end(), -1);
  // Frames rise within a track, so each track's position moves past the points before the frame.
  std::vector<std::int64_t> next(truth.track_offsets.begin(), truth.track_offsets.end() - 1);
  const Stop stop = Stop::of_this_thread();
  for (std::size_t k = 0; k < observation.frames.size(); ++k) {
    stop.check();
    for (const Origin& origin : observation.origins[k]) {
      if (origin.track < 0) continue;
      std::int64_t& point = next[at(origin.track)];
      while (truth.frame[at(point)] < observation.frames[k].frame) ++point;
      truth.detection[at(point)] = origin.detection;
    }
  }
}

}  // namespace motes::sim
