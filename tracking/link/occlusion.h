#pragma once
/// Particles that are missed because another one is too near: two closer than the resolution are one
/// detection. A gap where tracks cross is then no surprise, and a gap in plain sight is the rarer one.
///
/// In every frame of a gap the particle is put between the two detections that the link joins. It is taken
/// for hidden if in half of these frames a detection of another track lies within a radius of that place.
/// With h the share of gaps that are so, and c the share that chance gives, a link over a gap is likelier by
/// log(h / c) nats where the particle is hidden, and by log((1 - h) / (1 - c)) where it is in sight. Where
/// no other detection is near one end of the gap, the particle counts as in sight: else two tracks would take
/// turns at the detections of a pair that is not resolved.

#include <cstdint>
#include <memory>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

#include "tracking/link/series_candidates.h"

namespace motes::tracking {

class Occlusion {
 public:
  /// From the gaps of a linking; null where they are few or lie near other tracks no more than chance says.
  /// The radius is the likeliest of some up to the spacing; chance, how often others are near the same places
  /// at other times. `points` and `grids` (of the same points) must outlive it. Expected O(points + gaps).
  static std::shared_ptr<const Occlusion> fit(const Execution& execution, const SeriesPoints& points,
                                              const SeriesGrids& grids, const Prediction& prediction,
                                              const SeriesLinking& linking);

  /// How much likelier, in nats, a link from i to the later detection j is; 0 for successive frames.
  double gain(const Prediction& prediction, matching::Index i, matching::Index j) const;

  double radius_um() const { return radius_; }
  double hidden_share() const { return share_; }  ///< of gaps

 private:
  Occlusion(const SeriesPoints& points, const SeriesGrids& grids, const SeriesLinking& linking);

  /// Whether a detection of the same frame is within some radii of a detection.
  bool has_company(matching::Index i) const;
  struct Counts;
  /// Gaps of the linking in which particles are hidden, by radius, and what chance gives.
  Counts count(int threads, const Prediction& prediction, const SeriesLinking& linking) const;
  /// The same of the gap between i and j, added to counts.
  void count(const Prediction& prediction, matching::Index i, matching::Index j, Counts& counts) const;
  /// Where the particle that is at i and j is expected in the frame of that slot.
  Vec3 between(const Prediction& prediction, matching::Index i, matching::Index j, std::int32_t slot) const;
  /// Squared distance to the nearest detection of another track that is at most so far; infinity: none.
  double nearest(const Vec3& place, std::int32_t slot, double most, matching::Index own_track) const;

  const SeriesPoints* points_;
  const SeriesGrids* grids_;
  std::vector<matching::Index> track_;  ///< [points] first detection of its track
  std::vector<char> hides_;             ///< [points] 1: on a track, seen in the frames before and after too
  double radius_ = 0, share_ = 0, hidden_nats_ = 0, sight_nats_ = 0;
};

}  // namespace motes::tracking
