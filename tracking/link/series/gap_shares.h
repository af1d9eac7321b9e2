#pragma once
/// Estimates the shares of gaps, ends, births and false detections from a linking.
///
/// By chance new tracks begin near the ends of others, and a linking takes such pairs for gaps if that is
/// more likely. If all these links were counted, they would confirm themselves. So each counts with its
/// probability of being a link rather than an end and a new track (expectation maximisation: Dempster, Laird
/// & Rubin 1977). The sum expected by chance is subtracted: the same sum over new tracks that begin as many
/// frames before the ends as gaps last, which cannot be gaps.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/series_model.h>

namespace motes::tracking {

/// Whether all frames count, since most are less than `lags` links from the first or last one.
inline bool few_frames(std::int32_t frames, int lags) { return frames <= 4 * lags; }

/// Counts of one frame; integers, so that the order of addition does not matter.
struct TrackCounts {
  std::vector<std::int64_t> elapsed;  ///< [lags] links by frames between their detections
  /// Detections on tracks, those of them that are the last or the first of their track, and detections on no
  /// track.
  std::int64_t linked = 0, last = 0, first = 0, alone = 0;
};

/// The counts of the detections of frame t. O(detections of the frame).
TrackCounts count_tracks(const SeriesPoints& points, const SeriesLinking& linking, int lags, std::int32_t t);

/// Sets model.elapsed, end, birth and clutter from the counts of each frame. Uses the model's scales and
/// shapes, and starts from its shares. In short series, ends and births near the first and last frame count
/// with the probability that the track does not continue outside the series. `velocity` and `occlusion` as
/// for fit_model. Expected O(points + ends x lags), the same for any thread count.
void set_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel* velocity, const Occlusion* occlusion,
                const std::vector<TrackCounts>& counts, SeriesModel& model);

/// The same from the linking itself.
void fit_shares(const Execution& execution, const SeriesPoints& points, const Prediction& prediction,
                const SeriesLinking& linking, const VelocityModel& velocity, const Occlusion* occlusion,
                SeriesModel& model);

}  // namespace motes::tracking
