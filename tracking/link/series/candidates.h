#pragma once
/// Declarations shared by the search for candidates and the computation of their costs.

#include <cmath>
#include <cstddef>
#include <vector>

#include <motes/tracking/series_assignment.h>

#include "tracking/candidates/row_grid.h"

namespace motes::tracking {

/// The detections of every frame in a grid; they do not depend on links.
using SeriesGrids = std::vector<RowGrid>;  // [frames]
SeriesGrids grids_of(const Execution& execution, const SeriesPoints& points);

/// series_candidates or, with `most` > 0, likely_candidates. `grids`, if given, must be of the points.
SeriesCandidates find_candidates(const Execution& execution, const SeriesPoints& points,
                                 const Prediction& prediction, const SeriesModel& model, int lags,
                                 const SeriesLinking* keep, double nats, std::size_t most,
                                 const SeriesGrids* grids, std::int32_t frames_before = 0);

/// [candidates] 1: costs at most `nats` more than the cheapest one of its earlier detection.
std::vector<char> cheap_candidates(const Execution& execution, const SeriesCandidates& candidates,
                                   const std::vector<double>& costs, double nats);

/// The candidates e with keep[e] not 0.
SeriesCandidates some_candidates(const Execution& execution, const SeriesCandidates& candidates,
                                 const std::vector<char>& keep);

/// Costs of links by frame, elapsed frames and length; equal to SeriesModel::link_cost up to rounding.
class LagCosts {
 public:
  LagCosts(const SeriesModel& model, std::int32_t frames) : lags_(static_cast<std::size_t>(model.lags())) {
    for (std::int32_t t = 0; t < frames; ++t)
      for (int lag = 1; lag <= model.lags(); ++lag) {
        const double s = model.scale_of(t, lag);
        const auto k = static_cast<std::size_t>(lag) - 1;
        entries_.push_back({1 / s, model.dims * std::log(s) - std::log(model.elapsed[k] * (1 - model.end)),
                            &model.shape[k]});
      }
  }

  struct Entry {
    double per_scale, constant;
    const RadialDensity* shape;
    double cost(double length) const { return constant - shape->log_density(length * per_scale); }
    /// Replaces lengths by costs.
    void costs(std::vector<double>& lengths) const {
      for (double& length : lengths) length *= per_scale;
      shape->log_densities(lengths);
      for (double& length : lengths) length = constant - length;
    }
  };
  const Entry& of(std::int32_t slot, int lag) const {
    return entries_[static_cast<std::size_t>(slot) * lags_ + static_cast<std::size_t>(lag) - 1];
  }

 private:
  std::size_t lags_;
  std::vector<Entry> entries_;
};

}  // namespace motes::tracking
