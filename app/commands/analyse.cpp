/// motes analyse: how the particles of tracks move.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/atomic_file.h>
#include <motes/tracking/motion_analysis.h>

#include "app/command.h"
#include "app/options/codec.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/report/report_page.h"
#include "app/run/input.h"
#include "app/run/warnings.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;
using tracking::LagFigures;
using tracking::MotionFigures;

struct AnalyseArguments {
  std::string tracks, dir, max_lag, min_length = "2";
  bool remove_drift = false;
};

/// Units in column names and messages.
struct Units {
  std::string length;  ///< "um"
  std::string time;    ///< "s", or "frame"
  std::optional<double> dt_s;

  double time_of(std::int32_t frames) const { return frames * dt_s.value_or(1); }
};

/// A CSV cell; empty for an unknown value.
std::string cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

ordered_json json_of(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(); }

std::string msd_csv(const MotionFigures& motion, const Units& units) {
  std::string text =
      fmt::format("lag_frames,{1}pairs,tracks,msd_{0}2,msd_error_{0}2,non_gaussian,step_correlation\n",
                  units.length, units.dt_s ? "lag_s," : "");
  for (const LagFigures& lag : motion.lags)
    text +=
        fmt::format("{},{}{},{},{},{},{},{}\n", lag.lag,
                    units.dt_s ? fmt::format("{},", units.time_of(lag.lag)) : "", lag.pairs, lag.tracks,
                    cell(lag.msd), cell(lag.msd_error), cell(lag.non_gaussian), cell(lag.step_correlation));
  return text;
}

std::string drift_csv(const MotionFigures& motion, const Units& units) {
  std::string text =
      fmt::format("frame,links,dx_{0},dy_{0},dz_{0},sum_x_{0},sum_y_{0},sum_z_{0}\n", units.length);
  for (const tracking::DriftFigures& d : motion.drifts)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", d.frame, d.links, d.mean.x, d.mean.y, d.mean.z, d.sum.x,
                        d.sum.y, d.sum.z);
  return text;
}

std::string tracks_csv(const MotionFigures& motion, const Units& units) {
  std::string text = fmt::format(
      "particle,points,first_frame,last_frame,duration_{1},net_{0},path_{0},speed_{0}_{1},"
      "straightness,gyration_{0},diffusion_{0}2_{1}\n",
      units.length, units.time == "s" ? "s" : "frames");
  for (const tracking::TrackFigures& t : motion.tracks)
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", t.track_id, t.points, t.first_frame,
                        t.last_frame, t.duration, t.net, t.path, cell(t.speed), cell(t.straightness),
                        t.gyration, cell(t.diffusion));
  return text;
}

ordered_json report_of(const AnalyseArguments& arguments, const MotionFigures& motion, const Units& units,
                       const Console& console) {
  ordered_json report = report_head("analyse");
  report["tracks_file"] = arguments.tracks;
  report["length_unit"] = units.length;
  report["time_unit"] = units.time;
  report["tracks"] = motion.tracks.size();
  report["points"] = motion.points;
  report["dimensions"] = motion.dims;
  report["drift_removed"] = arguments.remove_drift;
  report["drift_per_step"] = {motion.drift.x, motion.drift.y, motion.drift.z};
  report["diffusion"] = {{"value", json_of(motion.diffusion)},
                         {"error", json_of(motion.diffusion_error)},
                         {"localisation_error", json_of(motion.localisation)}};
  report["exponent"] = {{"value", json_of(motion.exponent)}, {"error", json_of(motion.exponent_error)}};
  ordered_json lags = ordered_json::array();
  for (const LagFigures& lag : motion.lags)
    lags.push_back({{"lag", lag.lag},
                    {"msd", json_of(lag.msd)},
                    {"error", json_of(lag.msd_error)},
                    {"pairs", lag.pairs},
                    {"tracks", lag.tracks},
                    {"non_gaussian", json_of(lag.non_gaussian)},
                    {"step_correlation", json_of(lag.step_correlation)}});
  report["lags"] = std::move(lags);
  report["warnings"] = console.warnings();
  return report;
}

/// "0.5 +- 0.1 um^2/s"; "unknown" with the reason.
std::string measured(double value, double error, const std::string& unit, const std::string& why_not) {
  if (!std::isfinite(value)) return "unknown: " + why_not;
  return fmt::format("{:.4g}{}{}", value, std::isfinite(error) ? fmt::format(" +- {:.2g}", error) : "",
                     unit.empty() ? "" : " " + unit);
}

/// Whether nothing moves along z, as in tracks of planes.
bool is_flat(const MotionFigures& motion) {
  return motion.dims < 3 && std::all_of(motion.drifts.begin(), motion.drifts.end(),
                                        [](const tracking::DriftFigures& d) { return d.sum.z == 0; });
}

std::vector<std::string> lines_of(const MotionFigures& motion, const Units& units) {
  std::vector<std::string> lines;
  const std::string per_time = units.length + "^2/" + units.time;
  if (!motion.lags.empty()) {
    const LagFigures& first = motion.lags.front();
    lines.push_back(fmt::format("MSD after {}: {}", counted(first.lag, "frames"),
                                measured(first.msd, first.msd_error, units.length + "^2", "")));
  }
  lines.push_back("diffusion constant: " + measured(motion.diffusion, motion.diffusion_error, per_time,
                                                    "no track has two successive steps"));
  if (std::isfinite(motion.localisation))
    lines.push_back(
        fmt::format("localisation error: {:.4g} {} along an axis", motion.localisation, units.length));
  const std::string kind = motion.exponent - 2 * motion.exponent_error > 1.1 ? " (directed)"
                           : motion.exponent + 2 * motion.exponent_error < 0.9
                               ? " (confined, or localisation errors)"
                               : "";
  lines.push_back(
      "exponent of the MSD: " +
      measured(motion.exponent, motion.exponent_error, "", "fewer than three lags (raise --max-lag)") + kind);
  const bool flat = is_flat(motion);
  lines.push_back(fmt::format("drift: {:.4g}, {:.4g}{} {} per step along {}", motion.drift.x, motion.drift.y,
                              flat ? "" : fmt::format(", {:.4g}", motion.drift.z), units.length,
                              flat ? "x, y" : "x, y, z"));
  return lines;
}

ordered_json page_data(const MotionFigures& motion, const Units& units, const TrackSet& tracks,
                       const AnalyseArguments& arguments, const ordered_json& report,
                       const std::string& summary) {
  std::vector<double> lag, msd, correlation, frame, x, y, z;
  for (const LagFigures& one : motion.lags) {
    if (!(one.msd > 0)) continue;
    lag.push_back(units.time_of(one.lag));
    msd.push_back(one.msd);
  }
  std::vector<double> known;
  for (const LagFigures& one : motion.lags) {
    if (!std::isfinite(one.step_correlation)) continue;
    known.push_back(units.time_of(one.lag));
    correlation.push_back(one.step_correlation);
  }
  for (const tracking::DriftFigures& d : motion.drifts) {
    frame.push_back(d.frame);
    x.push_back(d.sum.x), y.push_back(d.sum.y), z.push_back(d.sum.z);
  }
  std::vector<ordered_json> sums{series_of("x", frame, x), series_of("y", frame, y)};
  if (!is_flat(motion)) sums.push_back(series_of("z", frame, z));
  const std::string after = fmt::format("lag ({})", units.time == "s" ? "s" : "frames");
  ordered_json curve = series_of("MSD", lag, msd);
  curve["points"] = true;
  ordered_json squares = chart("Mean squared displacement", after, "MSD (" + units.length + "^2)", {curve});
  squares["log"] = true;
  ordered_json parameters = ordered_json::array();
  const auto add = [&](const std::string& key, const std::string& value, bool given) {
    parameters.push_back({{"key", key}, {"value", value}, {"from", given ? "--" + key : "default"}});
  };
  add("max-lag", arguments.max_lag.empty() ? "auto" : arguments.max_lag, !arguments.max_lag.empty());
  add("min-length", arguments.min_length, arguments.min_length != "2");
  add("remove-drift", arguments.remove_drift ? "true" : "false", arguments.remove_drift);
  return {{"title", std::filesystem::path(arguments.tracks).filename().string()},
          {"summary", summary},
          {"warnings", report.at("warnings")},
          {"input", {{"tracks", arguments.tracks}}},
          {"parameters", parameters},
          {"charts",
           {squares,
            chart("Correlation of steps", after, "correlation", {series_of("steps", known, correlation)}),
            chart("Drift: sum of the mean displacements", "frame", "drift (" + units.length + ")", sums)}},
          {"scene", scene_of(tracks)}};
}

void run_analyse(Session& session, const AnalyseArguments& arguments) {
  const Config config = configure(session);
  tracking::AnalysisOptions options;
  constexpr std::int32_t kMost = 1'000'000'000;
  if (!arguments.max_lag.empty())
    options.max_lag = parse_option(arguments.max_lag, "--max-lag", integer<std::int32_t>(1, kMost));
  options.min_length = parse_option(arguments.min_length, "--min-length", integer<std::int64_t>(1, kMost));
  options.remove_drift = arguments.remove_drift;
  Console& console = session.console;
  const TrackSet tracks = read_tracks_scaled(arguments.tracks, config);
  const Units units{tracks.length_unit, tracks.dt_s ? "s" : "frame", tracks.dt_s};
  const MotionFigures motion = tracking::analyse_motion(execution_of(config), tracks, options);
  std::string summary =
      fmt::format("{} of {} or more points, {}, {}D", counted(std::ssize(motion.tracks), "tracks"),
                  options.min_length, counted(motion.points, "points"), motion.dims);
  for (const std::string& warning : motion_warnings(motion, options)) console.warn(warning);
  const ordered_json report = report_of(arguments, motion, units, console);
  const std::vector<std::string> lines = lines_of(motion, units);
  if (!arguments.dir.empty()) {
    const std::filesystem::path dir = arguments.dir;
    prepare_folder(dir);
    const OutputFolder folder(dir, {"msd", "drift", "track_figures", "analysis"});
    io::write_text(dir / "msd.csv", msd_csv(motion, units));
    io::write_text(dir / "drift.csv", drift_csv(motion, units));
    io::write_text(dir / "track_figures.csv", tracks_csv(motion, units));
    std::string said = summary;
    for (const std::string& line : lines) said += "; " + line;
    io::write_text(dir / "analysis.html",
                   page_of(page_data(motion, units, tracks, arguments, report, said), ""));
    io::write_text(dir / "analysis.json", report.dump(2) + "\n");
    summary += ": " + dir.string();
  }
  emit_json(session, report);
  for (const std::string& line : lines) console.print(line);
  console.print(summary);
}

}  // namespace

Command add_analyse(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "analyse", "Measure how particles move: MSD, diffusion, drift");
  auto arguments = std::make_shared<AnalyseArguments>();
  command.add_option("TRACKS", arguments->tracks, "Tracks, in any readable format");
  add_table_options(command, session);
  add_short_options(command, session.short_options, ShortOptionSet::units);
  command
      .add_option("-o,--output", arguments->dir,
                  "Folder for msd.csv, drift.csv, track_figures.csv, analysis.json and analysis.html")
      .check(refuse_empty_name)
      .type_name("DIR");
  command
      .add_option("--max-lag", arguments->max_lag,
                  "Longest lag [a quarter of the longest track, at most 100 steps]")
      .type_name("FRAMES");
  command.add_option("--min-length", arguments->min_length, "Leave out tracks of fewer points [2]")
      .type_name("POINTS");
  command.add_flag("--remove-drift", arguments->remove_drift,
                   "Subtract the mean motion of all particles first");
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->tracks, "analyse needs TRACKS, a file of tracks");
            run_analyse(session, *arguments);
          }};
}

}  // namespace motes::app
