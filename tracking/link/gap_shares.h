#pragma once
/// What a linking says of the shares of gaps, ends, births and false detections.
///
/// Chance puts new tracks near the ends of others, and a linking takes such pairs for gaps wherever that is
/// likelier. Counted as they stand, these links would prove each other. So each counts as far as it is
/// likelier than an end and a new track (expectation maximisation: Dempster, Laird & Rubin 1977), and from
/// their sum is taken what chance gives: the same sum over new tracks that lie as many frames before the ends
/// as gaps lie after them, which no gap can explain.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// Of one frame: whole numbers, so that their order does not matter.
struct TrackCounts {
  std::vector<std::int64_t> elapsed;  ///< [lags] links by frames between their detections
  /// Detections on tracks, those of them that no other follows, and that follow none; detections on no track.
  std::int64_t linked = 0, last = 0, first = 0, alone = 0;
};

/// Of the detections of frame t. O(detections of the frame).
TrackCounts count_tracks(const SeriesPoints& points, const SeriesLinking& linking, int lags, std::int32_t t);

/// Sets model.elapsed, end, birth and clutter from the counts of each frame; needs the model's scales and
/// shapes, and begins with its shares. In short series tracks near the first and the last frame count as far
/// as the model says that they do not go on out of sight. `velocity` and `occlusion` as for fit_model.
/// Expected O(points + ends x lags), the same for any thread count.
void set_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel* velocity, const Occlusion* occlusion,
                const std::vector<TrackCounts>& counts, SeriesModel& model);

/// The same from the linking itself.
void fit_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel& velocity, const Occlusion* occlusion,
                SeriesModel& model);

}  // namespace motes::tracking
