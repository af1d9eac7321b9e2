/// motes detect: frames to a table of detections.

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/detections_h5.h>
#include <motes/io/tables.h>

#include "app/bounded_memory.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/ranks.h"
#include "app/report/report.h"
#include "app/run/detecting.h"
#include "app/run/input.h"
#include "app/run/parameter_preview.h"

namespace motes::app {
namespace {

struct DetectArguments {
  std::string input, file, frames, picture;
};

/// Whether to write HDF5, by the file's name. Called before the work, which can be long. Throws UsageError.
bool wants_h5(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".h5" || extension == ".hdf5") return true;
  if (extension == ".csv") return false;
  throw UsageError("-o " + file.string() + ": detect writes tables that end in .csv or .h5");
}

void write_points(const std::filesystem::path& file, bool h5, const PointSeries& series, const Config& config,
                  const std::string& source) {
  if (!h5) return io::write_points_csv(file, series);
  io::write_detections_h5(file, series, {source, to_yaml(without_policy(config), {"input", "detection"})});
}

void run_preview(Session& session, const Config& config, const OpenedInput& input,
                 const std::filesystem::path& picture) {
  if (picture.extension() != ".png")
    throw UsageError("--preview-parameters " + picture.string() + ": the picture's name must end in .png");
  prepare_folder_of(picture);
  nlohmann::ordered_json report = report_head("detect");
  report["input"] = to_json(input);
  report["output"] = picture.string();
  report["parameters"] =
      preview_parameters(execution_of(config), config, *input.source, picture, session.console);
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
}

void write_and_report(Session& session, const Config& config, const OpenedInput& input,
                      const std::filesystem::path& file, const PointSeries& series,
                      const Communicator* ranks) {
  Console& console = session.console;
  write_points(file, wants_h5(file), series, config, input.path);
  std::int64_t total = 0;
  for (const FrameSummary& frame : series.summaries) total += frame.detections;
  nlohmann::ordered_json report = report_head("detect");
  report["input"] = to_json(input);
  report["output"] = file.string();
  if (ranks != nullptr) report["ranks"] = ranks->size();
  report["detection"] = detection_json(series);
  report["detections"] = total;
  report["frames"] = frames_json(series.summaries);
  report["stages"] = stages_json({series.stage});
  report["warnings"] = console.warnings();
  emit_json(session, report);
  console.print(fmt::format("{} in {}: {}", counted(total, "detections"),
                            counted(std::ssize(series.frames), "frames"), file.string()));
}

void run_detect(Session& session, const DetectArguments& arguments, Communicator* ranks) {
  Config config;
  OpenedInput input;
  std::filesystem::path file;
  Console& console = session.console;
  everywhere(ranks, [&] {
    config = configure(session, arguments.input, true);
    if (!arguments.frames.empty()) set_key(config, "input.frames", arguments.frames, "--frames");
    make_input_path_absolute(config);
    require_gpu_if_asked(config);
    input = open_input(config);
    hear_interrupts();
    if (!input.source) throw UsageError(input.path + ": holds points already; motes track links them");
    for (const std::string& line : describe(input)) console.note(line);
    const bool draws = !arguments.picture.empty();
    file = draws ? std::filesystem::path(arguments.picture)
                 : output_path(arguments.file, {}, input.path, "_detections.csv");
    if (!draws) wants_h5(file);
    bound_arrays(config, file.parent_path());
    bound_memory(config, file.parent_path(), input, console);
    if (!draws) prepare_folder_of(file);
  });
  if (!arguments.picture.empty())
    return on_first_rank(ranks, [&] { run_preview(session, config, input, arguments.picture); });

  const bool part = !arguments.frames.empty() && wants_h5(file);  // motes merge links the parts
  const PointSeries series =
      detect_series(share_of_threads(config), config, *input.source, console, session.hooks,
                    part ? Purpose::tracks : Purpose::spots, nullptr, ranks);
  on_first_rank(ranks, [&] { write_and_report(session, config, input, file, series, ranks); });
}

}  // namespace

Command add_detect(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "detect", "Find the particles in every frame");
  auto arguments = std::make_shared<DetectArguments>();
  command.add_option("INPUT", arguments->input, "A stack, a folder of volumes, or a YAML configuration");
  command.add_option("-o,--output", arguments->file, "Table to write: .csv or .h5")
      .check(refuse_empty_name)
      .type_name("FILE");
  command.add_option("--frames", arguments->frames, "Use frames A to B - 1 only (input.frames)")
      .type_name("A:B");
  command
      .add_option("--preview-parameters", arguments->picture,
                  "Only draw the spots that several radii and thresholds find in the first frame")
      .type_name("FILE.png");
  add_crop_option(command, session);
  add_short_options(command, session.short_options, ShortOptionSet::detection);
  return {&command.app(), [&session, arguments] {
            on_ranks([&](Communicator* ranks) { run_detect(session, *arguments, ranks); });
          }};
}

}  // namespace motes::app
