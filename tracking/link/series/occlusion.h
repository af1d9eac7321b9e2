#pragma once
/// Particles that are not detected because another one is too near: two closer than the resolution are one
/// detection. Then gaps are likely where tracks cross, and less likely elsewhere.
///
/// In every frame of a gap the position of the particle is interpolated between the two linked detections.
/// The particle is hidden if in half of these frames a detection of another track is within a radius of that
/// position. Let h be the share of hidden gaps, and c the share by chance. A link over a gap gains log(h / c)
/// nats if the particle is hidden, and log((1 - h) / (1 - c)) otherwise. If no other detection is near one
/// end of the gap, the particle counts as not hidden; otherwise two tracks would take turns at the detections
/// of a pair that is not resolved.

#include <cstdint>
#include <memory>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/link/series/candidates.h"

namespace motes::tracking {

class Occlusion {
 public:
  /// Fitted to the gaps of a linking; null if these are few, or near other tracks only as often as by chance.
  /// The radius is the most likely of several. Chance is how often others are near the same places at other
  /// times. `points` and `grids` (of the same points) must outlive it. Expected O(points + gaps).
  static std::shared_ptr<const Occlusion> fit(const Execution& execution, const SeriesPoints& points,
                                              const SeriesGrids& grids, const Prediction& prediction,
                                              const SeriesLinking& linking);

  /// The gain in nats of a link from i to the later detection j; 0 for successive frames.
  double gain(const Prediction& prediction, matching::Index i, matching::Index j) const;

  double radius_um() const { return radius_; }
  double hidden_share() const { return share_; }  ///< share of gaps in which the particle is hidden

 private:
  Occlusion(const SeriesPoints& points, const SeriesGrids& grids, const SeriesLinking& linking);

  /// Whether another detection of the same frame is within kCompany radii.
  bool has_company(matching::Index i) const;
  struct Counts;
  /// Counts the hidden gaps of the linking for each radius, and those by chance.
  Counts count(int threads, const Prediction& prediction, const SeriesLinking& linking) const;
  /// Adds the gap between i and j to the counts.
  void count(const Prediction& prediction, matching::Index i, matching::Index j, Counts& counts) const;
  /// The expected position in the frame `slot` of the particle that is at i and j.
  Vec3 between(const Prediction& prediction, matching::Index i, matching::Index j, std::int32_t slot) const;
  /// Squared distance to the nearest detection of another track, at most `most`; infinity: none.
  double nearest(const Vec3& place, std::int32_t slot, double most, matching::Index own_track) const;

  const SeriesPoints* points_;
  const SeriesGrids* grids_;
  std::vector<matching::Index> track_;  ///< [points] first detection of its track
  std::vector<char> hides_;  ///< [points] 1: on a track, and detected in the frames before and after
  double radius_ = 0, share_ = 0, hidden_nats_ = 0, sight_nats_ = 0;
};

}  // namespace motes::tracking
