// motes.analyse: figures of motion as NumPy columns.

#include <motes/tracking/motion_analysis.h>

#include "app/run/warnings.h"
#include "python/src/interruptible.h"
#include "python/src/python.h"
#include "python/src/track_data.h"

namespace motes::python {
namespace {

using tracking::MotionFigures;

/// A column of the table of `rows`.
template <class Row, class Get>
nb::object column(const std::vector<Row>& rows, const Get& get) {
  using Value = std::decay_t<decltype(get(rows[0]))>;
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(get(row));
  return to_numpy(std::move(values));
}

nb::dict lags_of(const MotionFigures& motion, double frame_time) {
  nb::dict out;
  const auto& rows = motion.lags;
  out["lag"] = column(rows, [](const auto& r) { return r.lag; });
  out["lag_time"] = column(rows, [&](const auto& r) { return r.lag * frame_time; });
  out["msd"] = column(rows, [](const auto& r) { return r.msd; });
  out["msd_error"] = column(rows, [](const auto& r) { return r.msd_error; });
  out["pairs"] = column(rows, [](const auto& r) { return r.pairs; });
  out["tracks"] = column(rows, [](const auto& r) { return r.tracks; });
  out["non_gaussian"] = column(rows, [](const auto& r) { return r.non_gaussian; });
  out["step_correlation"] = column(rows, [](const auto& r) { return r.step_correlation; });
  return out;
}

nb::dict drift_of(const MotionFigures& motion) {
  nb::dict out;
  const auto& rows = motion.drifts;
  out["frame"] = column(rows, [](const auto& r) { return r.frame; });
  out["links"] = column(rows, [](const auto& r) { return r.links; });
  out["dx"] = column(rows, [](const auto& r) { return r.mean.x; });
  out["dy"] = column(rows, [](const auto& r) { return r.mean.y; });
  out["dz"] = column(rows, [](const auto& r) { return r.mean.z; });
  out["sum_x"] = column(rows, [](const auto& r) { return r.sum.x; });
  out["sum_y"] = column(rows, [](const auto& r) { return r.sum.y; });
  out["sum_z"] = column(rows, [](const auto& r) { return r.sum.z; });
  return out;
}

nb::dict tracks_of(const MotionFigures& motion) {
  nb::dict out;
  const auto& rows = motion.tracks;
  out["particle"] = column(rows, [](const auto& r) { return r.track_id; });
  out["points"] = column(rows, [](const auto& r) { return r.points; });
  out["first_frame"] = column(rows, [](const auto& r) { return r.first_frame; });
  out["last_frame"] = column(rows, [](const auto& r) { return r.last_frame; });
  out["duration"] = column(rows, [](const auto& r) { return r.duration; });
  out["net"] = column(rows, [](const auto& r) { return r.net; });
  out["path"] = column(rows, [](const auto& r) { return r.path; });
  out["speed"] = column(rows, [](const auto& r) { return r.speed; });
  out["straightness"] = column(rows, [](const auto& r) { return r.straightness; });
  out["gyration"] = column(rows, [](const auto& r) { return r.gyration; });
  out["diffusion"] = column(rows, [](const auto& r) { return r.diffusion; });
  return out;
}

nb::dict analyse(const nb::dict& tracks, std::int32_t max_lag, std::int64_t min_length, bool remove_drift,
                 int threads) {
  const TrackSet set = track_set_of(tracks);
  const tracking::AnalysisOptions options{max_lag, min_length, remove_drift};
  const MotionFigures motion = interruptible([&] {
    Execution execution;
    execution.threads = threads;
    return tracking::analyse_motion(execution, set, options);
  });
  nb::dict out;
  nb::list warnings;
  for (const std::string& line : app::motion_warnings(motion, options)) warnings.append(in_python(line));
  out["warnings"] = warnings;
  out["msd"] = lags_of(motion, set.dt_s.value_or(1));
  out["drift"] = drift_of(motion);
  out["tracks"] = tracks_of(motion);
  out["dims"] = motion.dims;
  out["length_unit"] = set.length_unit;
  out["time_unit"] = set.dt_s ? "s" : "frame";
  out["diffusion"] = motion.diffusion;
  out["diffusion_error"] = motion.diffusion_error;
  out["localisation_error"] = motion.localisation;
  out["exponent"] = motion.exponent;
  out["exponent_error"] = motion.exponent_error;
  return out;
}

}  // namespace

void bind_analysis(nb::module_& m) { m.def("_analyse", &analyse); }

}  // namespace motes::python
