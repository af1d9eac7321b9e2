#pragma once
/// Motion analysis of tracks: mean squared displacements, diffusion, drift, correlation of steps.

#include <cstdint>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/track_set.h>

namespace motes::tracking {

/// Lengths are in the tracks' unit, times in seconds, or in frames if the interval is unknown. A value that
/// the tracks do not determine is NaN. Standard errors are estimated between tracks, since points within a
/// track are correlated.
struct AnalysisOptions {
  std::int32_t max_lag = 0;     ///< in frames; 0: a quarter of the longest track, at most 100 steps
  std::int64_t min_length = 2;  ///< in points; shorter tracks are ignored
  bool remove_drift = false;    ///< subtract the mean motion of all particles first
};

/// Averages over all pairs of points of a track that are `lag` frames apart.
struct LagFigures {
  std::int32_t lag = 0;
  std::int64_t pairs = 0, tracks = 0;
  double msd = 0, msd_error = 0;
  double non_gaussian = 0;  ///< d <r^4> / ((d + 2) <r^2>^2) - 1: 0 for Gaussian displacements
  /// Mean scalar product of one-step displacements that begin `lag` apart, over their mean square.
  double step_correlation = 0;
};

/// Mean displacement of the particles seen in this frame and one step later, and the sum of the means up to
/// here.
struct DriftFigures {
  std::int32_t frame = 0;
  std::int64_t links = 0;
  Vec3 mean{}, sum{};
};

struct TrackFigures {
  std::int64_t track_id = 0, points = 0;
  std::int32_t first_frame = 0, last_frame = 0;
  double duration = 0;      ///< last minus first time
  double net = 0;           ///< distance from the first point to the last
  double path = 0;          ///< sum of the distances from point to point
  double speed = 0;         ///< path over duration
  double straightness = 0;  ///< net over path
  double gyration = 0;      ///< root mean square distance from the mean position
  double diffusion = 0;     ///< as MotionFigures::diffusion, for this track; may be negative
};

struct MotionFigures {
  int dims = 0;           ///< number of axes along which positions differ
  std::int32_t step = 1;  ///< frames between successive points; lags are multiples of it
  double interval = 1;    ///< time of one step
  std::int64_t points = 0;
  /// Diffusion coefficient, length^2 / time, from the covariance of successive displacements, so that
  /// localisation errors do not bias it (Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726,
  /// 2014; without motion blur). Meaningful only for normal diffusion: see step_correlation and exponent.
  double diffusion = 0, diffusion_error = 0;
  /// Standard error of a position along an axis; NaN if the steps do not determine it.
  double localisation = 0;
  /// Slope of log MSD over log lag for the first ten lags, weighted by their pairs; and its standard error.
  double exponent = 0, exponent_error = 0;
  Vec3 drift{};                      ///< mean displacement in one step
  std::vector<LagFigures> lags;      ///< rising
  std::vector<DriftFigures> drifts;  ///< [frames with links]
  std::vector<TrackFigures> tracks;  ///< of at least min_length points
};

/// Analyses all tracks. The same for any thread count. Throws UsageError for a max_lag below 0 or a
/// min_length below 1. O(points x lags).
MotionFigures analyse_motion(const Execution& execution, const TrackSet& tracks,
                             const AnalysisOptions& options);

}  // namespace motes::tracking
