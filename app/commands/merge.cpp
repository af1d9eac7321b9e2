/// motes merge: joins parts of a series that were detected separately, and links them.
///
/// Frames are searched independently, so parts have the same detections as one run. Everything that is
/// estimated from several frames (gate, motion, tracks) is estimated here from all frames, so the results are
/// those of one run, byte for byte.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/detections_h5.h>
#include <motes/io/track_files.h>

#include "app/bounded_memory.h"
#include "app/command.h"
#include "app/commands/track.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/run/detecting.h"
#include "app/run/earlier_run.h"
#include "app/run/input.h"

namespace motes::app {
namespace {

struct MergeArguments {
  std::vector<std::string> parts;
  std::string dir;
  bool force = false;
};

struct Part {
  std::string file;
  io::DetectionsPart found;
  Config config;  ///< the settings of its detection
  const FrameRange& range() const { return config.input.frames; }
};

Part read_part(const std::string& name) {
  Part part;
  part.file = io::tracks_of_run(name).string();
  if (std::error_code ignored; std::filesystem::is_directory(part.file, ignored))
    throw InputError(part.file + ": this folder has no tracks.h5, or it may not be read; name a file in it");
  part.found = io::read_detections_part(part.file);
  load_yaml_text(part.found.configuration, part.file + ": configuration", part.config);
  const auto outside = std::find_if(part.found.points.frames.begin(), part.found.points.frames.end(),
                                    [&](const Detections& f) { return !part.range().holds(f.frame); });
  if (outside != part.found.points.frames.end())
    throw InputError(fmt::format("{}: frame {} is outside its own input.frames; the file is damaged",
                                 part.file, outside->frame));
  return part;
}

/// The settings of a part's detection, without its range of frames.
std::string settings_of(const Part& part) {
  Config config = part.config;
  config.input.frames = {};
  return to_yaml(config, {"input", "detection"}) +
         fmt::format("voxel size: [{}, {}, {}]\nunit: {}\nframe interval: {}\n", part.found.points.voxel_um.z,
                     part.found.points.voxel_um.y, part.found.points.voxel_um.x,
                     part.found.points.length_unit,
                     part.found.points.dt_s ? fmt::format("{}", *part.found.points.dt_s) : "unknown");
}

/// The first line in which two texts with the same number of lines differ, quoted from both; empty if none
/// does.
std::string difference(const std::string& one, const std::string& other) {
  std::istringstream lines(one), others(other);
  std::string line, different;
  while (std::getline(lines, line)) {
    std::getline(others, different);
    if (line == different) continue;
    const auto trimmed = [](const std::string& text) { return text.substr(text.find_first_not_of(' ')); };
    return fmt::format("'{}', '{}'", trimmed(line), trimmed(different));
  }
  return {};
}

void require_same_settings(const Part& one, const Part& other) {
  const std::string lines = difference(settings_of(one), settings_of(other));
  if (lines.empty()) return;
  throw UsageError(
      fmt::format("{} and {} were detected with different settings ({}); detect both with one plan "
                  "(motes plan)",
                  one.file, other.file, lines));
}

/// Throws UsageError if the part was detected with other settings than the plan's, if the plan has an input.
void require_planned_settings(const Part& part, const Config& plan) {
  if (plan.input.path.empty()) return;
  const std::string lines =
      difference(to_yaml(part.config, {"detection"}), to_yaml(without_policy(plan), {"detection"}));
  if (lines.empty()) return;
  throw UsageError(
      fmt::format("{} was detected with other settings than the plan's ({}); use the plan with which "
                  "it was detected",
                  part.file, lines));
}

std::string range_text(std::int32_t first, std::int32_t end) {
  return fmt::format("{}:{}", first, end == FrameRange::kOpen ? "" : std::to_string(end));
}

/// Sorts the parts by their frames; throws if a frame is in two of them, or one in between is missing.
void order_parts(std::vector<Part>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.range().first < b.range().first; });
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const Part &before = parts[k - 1], &part = parts[k];
    require_same_settings(parts.front(), part);
    if (part.range().first < before.range().end)
      throw UsageError(
          fmt::format("frames {} are in {} and in {}; give one of them",
                      range_text(part.range().first, std::min(part.range().end, before.range().end)),
                      before.file, part.file));
    if (part.range().first > before.range().end)
      throw UsageError(
          fmt::format("frames {} are in no part; detect them with --frames, or add the part that has them",
                      range_text(before.range().end, part.range().first)));
  }
}

/// Warns of frames of the plan (or of a series counted from 0) before the first part and after the last.
void warn_of_missing_ends(const FrameRange& planned, const FrameRange& parts, Console& console) {
  const auto warn = [&](std::int32_t first, std::int32_t end) {
    console.warn(
        fmt::format("frames {} are in no part, and left out; detect them with --frames, or add the "
                    "part that has them",
                    range_text(first, end)));
  };
  if (planned.first < parts.first) warn(planned.first, parts.first);
  if (planned.end != FrameRange::kOpen && planned.end > parts.end) warn(parts.end, planned.end);
}

/// The end of the series `all`, if it can still be read and has frames from `end` on.
std::int32_t end_after(Config all, std::int32_t end) {
  if (end == FrameRange::kOpen) return end;
  all.input.frames = {end, FrameRange::kOpen};
  try {
    const OpenedInput input = open_input(all);
    if (input.source) return frames_to_detect(all, *input.source).back() + 1;
  } catch (const std::exception&) {  // cannot be read, or has no such frames
  }
  return FrameRange::kOpen;
}

PointSeries joined(std::vector<Part> parts) {
  PointSeries series;
  series.length_unit = parts.front().found.points.length_unit;
  series.dt_s = parts.front().found.points.dt_s;
  series.voxel_um = parts.front().found.points.voxel_um;
  series.radius_source = "detected in parts";
  for (Part& part : parts) {
    for (Detections& frame : part.found.points.frames) {
      series.summaries.push_back({frame.frame, static_cast<std::int64_t>(frame.size()), std::nullopt});
      series.frames.push_back(std::move(frame));
    }
  }
  return series;
}

void run_merge(Session& session, const MergeArguments& arguments) {
  if (arguments.parts.empty()) throw UsageError("merge needs the parts: files of motes detect -o PART.h5");
  require_argument(arguments.dir, "merge needs -o DIR, the folder for the results");
  Config config = configure(session, "", true);
  bound_arrays(config, arguments.dir);
  std::vector<Part> parts;
  for (const std::string& name : arguments.parts) parts.push_back(read_part(name));
  order_parts(parts);
  require_planned_settings(parts.front(), config);
  FrameRange planned = config.input.frames;
  config.input = parts.front().config.input;
  config.detection = parts.front().config.detection;
  config.input.frames = {parts.front().range().first, parts.back().range().end};
  if (planned.end == FrameRange::kOpen) planned.end = end_after(config, config.input.frames.end);
  warn_of_missing_ends(planned, config.input.frames, session.console);
  if (!arguments.force) refuse_other_run(arguments.dir, config);

  nlohmann::ordered_json report = report_head("merge");
  report["input"] = {{"path", config.input.path}, {"parts", nlohmann::ordered_json::array()}};
  for (const Part& part : parts)
    report["input"]["parts"].push_back(
        {{"file", part.file}, {"frames", range_text(part.range().first, part.range().end)}});
  const std::int64_t count = std::ssize(parts);
  PointSeries series = joined(std::move(parts));
  session.console.note(fmt::format("{} of {}: {}, numbered {} to {}", counted(count, "parts"),
                                   config.input.path, counted(std::ssize(series.frames), "frames"),
                                   series.frames.front().frame, series.frames.back().frame));
  const OutputFolder folder(arguments.dir, result_stems());
  hear_interrupts();
  link_and_write(session, config, std::move(series), arguments.dir, std::move(report));
}

}  // namespace

Command add_merge(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "merge", "Join the parts of a series (detect --frames) and link them");
  auto arguments = std::make_shared<MergeArguments>();
  command.add_option("PART", arguments->parts, "Files of motes detect -o PART.h5, or folders of motes track");
  command.add_option("-o,--output", arguments->dir, "Folder for the results")
      .check(refuse_empty_name)
      .type_name("DIR");
  command.add_flag("--force", arguments->force, "Overwrite the results of a run with other settings");
  return {&command.app(), [&session, arguments] { run_merge(session, *arguments); }};
}

}  // namespace motes::app
