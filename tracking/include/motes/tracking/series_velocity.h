#pragma once
/// Persistence of motion in the cost of a link: how its displacement depends on those of the links before and
/// after it.
///
/// Let d be the displacement of a candidate minus the predicted one, and v the same per frame for the link
/// into its first or out of its last detection. For each of these two links that exists, log p(d | v) - log
/// p(d) is subtracted from the cost. p(d | v) has the one of two forms under which the tracks of a linking
/// are more likely:
///
///   residual   h(|d - beta v|): speed and direction persist; beta by regression
///   turning    p(|d|) b(|d|, |v|) a(angle between d and v): the direction persists or not, and the lengths
///   of successive moves may depend on each other
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

/// Ratio of the density of the cosine of the turning angle to that of random directions; 1 if nothing is
/// known.
class TurningDensity {
 public:
  TurningDensity() = default;
  /// From counts of cosines in equal bins from -1 to 1.
  TurningDensity(const std::vector<double>& counts, int dims);
  double log_ratio(double cosine) const;

 private:
  std::vector<double> log_ratio_;  ///< at the bins' centres
};

/// The persistence for one side (link before or after), number of elapsed frames, and class of the
/// neighbouring link (over one frame, or more).
struct Persistence {
  bool known = false;
  double beta = 0;
  double scale = 1;  ///< of d - beta v, in units of the frame's scale
  RadialDensity shape;
  TurningDensity turning;
  SpeedDensity speed;
};

struct VelocityModel {
  PersistenceForm form = PersistenceForm::residual;
  std::vector<std::array<std::array<Persistence, 2>, 2>> by_lag;  ///< [lags][side][class]
  double gain = 0;  ///< mean of log(p(d | v) / p(d)) over links over one frame, in nats
  /// Regression coefficient of displacements on those before them, both over one frame; 0 if unknown.
  double beta() const { return by_lag.empty() ? 0 : by_lag[0][0][0].beta; }
};

/// The persistence in the tracks of a linking. The same for any thread count. O(points x lags).
VelocityModel fit_velocity(const Execution& execution, const SeriesPoints& points,
                           const Prediction& prediction, const SeriesModel& model,
                           const SeriesLinking& linking);

/// log p(d | v) - log p(d) in nats; d and v are in units of the frame's scale.
double velocity_gain(const VelocityModel& velocity, const SeriesModel& model, int lag, std::size_t side,
                     std::size_t kind, const Vec3& d, const Vec3& v);

/// velocity_gain from the link before (side 0), for many pairs of a link into and a link out of a detection.
/// Values that depend on only one link are computed once. The same bits as velocity_gain. Both models must
/// outlive it.
class MeetingGains {
 public:
  MeetingGains(const VelocityModel& velocity, const SeriesModel& model);

  struct Leaving {
    Vec3 d;  ///< in scales of the frame
    std::size_t lag = 0;
    double length = 0, plain = 0;  ///< length of d; log p(d) without the term of the scale
    std::size_t bin = 0;           ///< bin of its length in SpeedDensity
  };
  struct Arriving {
    Vec3 v;  ///< per frame, in units of the frame's scale
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
  std::vector<std::array<double, 2>> scales_;  ///< [lags][class] term of the scales
};

/// [candidates] gains in nats to subtract from the costs. O(candidates).
std::vector<double> velocity_gains(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model,
                                   const VelocityModel& velocity, const SeriesLinking& linking,
                                   const SeriesCandidates& candidates);

}  // namespace motes::tracking
