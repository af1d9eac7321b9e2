/// motes plan: a configuration that fixes everything on which the parts of a series must agree.

#include "app/commands/plan.h"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>

#include "app/bounded_memory.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/run/detecting.h"
#include "app/run/input.h"

namespace motes::app {
namespace {

struct PlanArguments {
  std::string input, file;
};

void run_plan(Session& session, const PlanArguments& arguments) {
  const Config config = configure(session, arguments.input);
  hear_interrupts();
  const std::filesystem::path file = output_path(arguments.file, {}, config.input.path, "_plan.yaml");
  if (!is_yaml(file.string()))
    throw UsageError("-o " + file.string() + ": the plan's name must end in .yaml or .yml");
  const Plan plan = make_plan(session, config);
  prepare_folder_of(file);
  io::write_text(file, plan.text);
  nlohmann::ordered_json report = report_head("plan");
  report["output"] = file.string();
  report["frames"] = plan.frames.size();
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
  session.console.print(
      fmt::format("a plan for {}: {}", counted(std::ssize(plan.frames), "frames"), file.string()));
}

/// Replaces an `auto` gain, and the number of false spots if spots are faint, by the estimated ones.
void fix_estimates(const Execution& execution, io::FrameSource& source, Console& console, Config& config) {
  Config::Detection& d = config.detection;
  if (finds_labels(config)) return;
  const FrameFinder finder(execution, config, source, console, {}, Purpose::tracks);
  if (finder.faint()) d.false_positives_per_frame = finder.faint()->false_per_frame;
  if (!d.camera_gain || *d.camera_gain) return;
  if (finder.camera())
    d.camera_gain = finder.camera()->model.gain;
  else
    d.camera_gain.reset(), d.camera_offset.reset(), d.read_noise.reset();
}

}  // namespace

Plan make_plan(Session& session, Config config) {
  make_input_path_absolute(config);
  OpenedInput input = open_input(config);
  if (!input.source) throw UsageError(input.path + ": holds points already; motes track links them");
  for (const std::string& line : describe(input)) session.console.note(line);
  bound_memory(config, ".", input, session.console);
  std::string source = "labels";
  if (!finds_labels(config)) {
    const SpotRadius radius = choose_radius(execution_of(config), config, *input.source, session.console);
    config.detection.radius_um = radius.um;
    config.detection.largest_radius_um = radius.largest_um;
    config.detection.polarity = radius.polarity;
    source = radius.source;
  }
  fix_estimates(execution_of(config), *input.source, session.console, config);
  Plan plan{config, frames_to_detect(config, *input.source), {}};
  plan.text = fmt::format(
                  "# A plan for {} of one series: each part is detected by\n"
                  "#   motes detect THIS_FILE --frames A:B -o part0.h5\n"
                  "# and motes merge part*.h5 --config THIS_FILE -o DIR gives the bytes of\n"
                  "#   motes track THIS_FILE -o DIR\n"
                  "# detection.radius_um: {}\n",
                  counted(std::ssize(plan.frames), "frames"), source) +
              to_yaml(config, {"input", "detection", "linking"});
  return plan;
}

Command add_plan(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "plan", "Estimate settings once, to detect a series in parts");
  auto arguments = std::make_shared<PlanArguments>();
  command.add_option("INPUT", arguments->input, "A stack, a folder of volumes, or a YAML configuration");
  add_short_options(command, session.short_options, ShortOptionSet::detection);
  command.add_option("-o,--output", arguments->file, "The plan, a YAML configuration")
      .check(refuse_empty_name)
      .type_name("FILE");
  return {&command.app(), [&session, arguments] { run_plan(session, *arguments); }};
}

}  // namespace motes::app
