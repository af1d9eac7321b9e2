#pragma once
/// Persistence of motion in a link's cost: what the links before and after it say about its displacement.
///
/// With d the displacement of a candidate beyond what is predicted, and v the same per frame of the link into
/// its first or out of its last detection, the cost loses log p(d | v) - log p(d) for each of the two that is
/// there. p(d | v) has one of two forms, whichever makes the tracks of a linking likelier:
///
///   residual   h(|d - beta v|): speed and direction persist; beta by regression
///   turning    p(|d|) b(|d|, |v|) a(angle between d and v): the direction persists or not, and those that
///              moved far move far again, or not
///
/// h, b and a are histograms over the tracks of a linking, by elapsed frames of the candidate and of the
/// neighbouring link (one, or more).

#include <array>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/radial_density.h>
#include <motes/tracking/series_assignment.h>
#include <motes/tracking/speed_density.h>

namespace motes::tracking {

enum class PersistenceForm { residual, turning };

/// A density of the cosine of the turning angle, over that of directions at random: 1 where nothing is known.
class TurningDensity {
 public:
  TurningDensity() = default;
  /// From counts of cosines in equal bins from -1 to 1.
  TurningDensity(const std::vector<double>& counts, int dims);
  double log_ratio(double cosine) const;

 private:
  std::vector<double> log_ratio_;  ///< at the bins' centres
};

/// Of one side (link before, link after), elapsed frames and class of the neighbouring link (one frame,
/// more).
struct Persistence {
  bool known = false;
  double beta = 0;
  double scale = 1;  ///< of d - beta v, in scales of the frame
  RadialDensity shape;
  TurningDensity turning;
  SpeedDensity speed;
};

struct VelocityModel {
  PersistenceForm form = PersistenceForm::residual;
  std::vector<std::array<std::array<Persistence, 2>, 2>> by_lag;  ///< [lags][side][class]
  double gain = 0;  ///< mean log p(d | v) / p(d) of links over one frame, in nats
  /// Regression of displacements on those before them, both over one frame; 0 where unknown.
  double beta() const { return by_lag.empty() ? 0 : by_lag[0][0][0].beta; }
};

/// O(points x lags).
VelocityModel fit_velocity(const Execution& execution, const SeriesPoints& points,
                           const Prediction& prediction, const SeriesModel& model,
                           const SeriesLinking& linking);

/// log p(d | v) - log p(d); d and v in scales of the frame, `plain` the length of d over its own scale there.
double velocity_gain(const VelocityModel& velocity, const SeriesModel& model, int lag, std::size_t side,
                     std::size_t kind, const Vec3& d, const Vec3& v);

/// velocity_gain from the link before (side 0), for many links that meet: what depends on one of the two
/// alone is computed once for each. The same bits as velocity_gain. Both models must outlive it.
class MeetingGains {
 public:
  MeetingGains(const VelocityModel& velocity, const SeriesModel& model);

  struct Leaving {
    Vec3 d;  ///< in scales of the frame
    std::size_t lag = 0;
    double length = 0, plain = 0;  ///< of d; log p(d), the scale's part left out
    std::size_t bin = 0;           ///< of its length, for SpeedDensity
  };
  struct Arriving {
    Vec3 v;  ///< a frame, in scales of the frame
    std::size_t kind = 0;
    double length = 0;
    std::size_t bin = 0;
  };
  Leaving leaving(int lag, const Vec3& d) const;
  Arriving arriving(std::size_t kind, const Vec3& v) const {
    const double length = length_of(v);
    return {v, kind, length, velocity_.form == PersistenceForm::turning ? SpeedDensity::bin_of(length) : 0};
  }
  double operator()(const Leaving& out, const Arriving& in) const;

 private:
  const VelocityModel& velocity_;
  const SeriesModel& model_;
  std::vector<std::array<double, 2>> scales_;  ///< [lags][class] what the scales add
};

/// [candidates] what to subtract from each cost. O(candidates).
std::vector<double> velocity_gains(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model,
                                   const VelocityModel& velocity, const SeriesLinking& linking,
                                   const SeriesCandidates& candidates);

}  // namespace motes::tracking
