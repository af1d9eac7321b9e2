/// motes cluster: job scripts that divide the detection of a series among many tasks.

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>

#include "app/commands/plan.h"
#include "app/interrupt.h"
#include "app/progress.h"
#include "app/report/report.h"

namespace motes::app {
namespace {

struct ClusterArguments {
  std::string system, input, dir;
  std::int64_t tasks = 16, cpus = 4;
};

struct Script {
  std::string name, text;
};

/// The range "A:B" of each task, as equal as possible, each with at least one frame. Together they cover
/// input.frames, so the last range is open if input.frames is.
std::vector<std::string> frame_ranges(const Plan& plan, std::int64_t tasks) {
  const FrameRange& all = plan.config.input.frames;
  const auto frames = std::ssize(plan.frames);
  tasks = std::clamp<std::int64_t>(tasks, 1, frames);
  std::vector<std::string> ranges;
  std::int32_t first = all.first;
  for (std::int64_t k = 0; k < tasks; ++k) {
    const std::int32_t end =
        k + 1 == tasks ? all.end : plan.frames[static_cast<std::size_t>((k + 1) * frames / tasks)];
    ranges.push_back(fmt::format("{}:{}", first, end == FrameRange::kOpen ? "" : std::to_string(end)));
    first = end;
  }
  return ranges;
}

std::string quoted_list(const std::vector<std::string>& words, const char* separator, const char* quote) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + (quote + word + quote);
  return text;
}

std::vector<Script> slurm_scripts(const std::vector<std::string>& ranges, std::int64_t cpus) {
  const std::string detect = fmt::format(
      R"sh(#!/bin/bash
#SBATCH --job-name=motes-detect
#SBATCH --array=0-{}
#SBATCH --cpus-per-task={}
#SBATCH --output=parts/%a.log
# Detects the particles in one range of frames. A part that exists is complete and is skipped.
frames=({})
part=parts/$SLURM_ARRAY_TASK_ID.h5
[ -e "$part" ] && exit 0
exec "${{MOTES:-motes}}" detect plan.yaml --frames "${{frames[$SLURM_ARRAY_TASK_ID]}}" -o "$part" \
  --threads "$SLURM_CPUS_PER_TASK"
)sh",
      ranges.size() - 1, cpus, quoted_list(ranges, " ", ""));
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < ranges.size(); ++k) parts.push_back(fmt::format("parts/{}.h5", k));
  const std::string merge = fmt::format(
      R"sh(#!/bin/bash
#SBATCH --job-name=motes-merge
#SBATCH --cpus-per-task={}
#SBATCH --output=merge.log
# Links all parts as one series.
exec "${{MOTES:-motes}}" merge {} --config plan.yaml -o tracks --threads "$SLURM_CPUS_PER_TASK"
)sh",
      cpus, quoted_list(parts, " ", ""));
  const std::string submit = R"sh(#!/bin/sh
# Submits both jobs. Run it again after a failure: parts that exist are skipped.
set -e
cd "$(dirname "$0")"
mkdir -p parts
job=$(sbatch --parsable "$@" detect.slurm)
sbatch --dependency="afterok:$job" "$@" merge.slurm
)sh";
  return {{"detect.slurm", detect}, {"merge.slurm", merge}, {"submit.sh", submit}};
}

std::vector<Script> snakemake_scripts(const std::vector<std::string>& ranges, std::int64_t cpus) {
  return {{"Snakefile", fmt::format(
                            R"sh(# Run with: snakemake --cores N (or with an executor plugin, on a cluster)
import os

MOTES = os.environ.get("MOTES", "motes")
FRAMES = [{}]

rule all:
    input: "tracks/tracks.h5"

rule detect:
    input: "plan.yaml"
    output: "parts/{{part}}.h5"
    params: frames=lambda wildcards: FRAMES[int(wildcards.part)]
    threads: {}
    shell: "{{MOTES:q}} detect {{input}} --frames {{params.frames}} -o {{output}} --threads {{threads}} --quiet"

rule merge:
    input: plan="plan.yaml", parts=expand("parts/{{part}}.h5", part=range(len(FRAMES)))
    output: "tracks/tracks.h5", "tracks/tracks.csv"
    threads: {}
    shell: "{{MOTES:q}} merge {{input.parts}} --config {{input.plan}} -o tracks --threads {{threads}} --quiet"
)sh",
                            quoted_list(ranges, ", ", "\""), cpus, cpus)}};
}

void run_cluster(Session& session, const ClusterArguments& arguments) {
  require_argument(arguments.system, "cluster needs a system, slurm or snakemake, and the input");
  if (arguments.system != "slurm" && arguments.system != "snakemake")
    throw UsageError("cluster: '" + arguments.system + "' is not known; use slurm or snakemake");
  const Config config = configure(session, arguments.input);
  hear_interrupts();
  const std::filesystem::path dir =
      output_path(arguments.dir, config.output.dir, config.input.path, "_cluster");
  prepare_folder(dir);
  const Plan plan = make_plan(session, config);
  const std::vector<std::string> ranges = frame_ranges(plan, arguments.tasks);
  const bool slurm = arguments.system == "slurm";
  std::vector<Script> scripts =
      slurm ? slurm_scripts(ranges, arguments.cpus) : snakemake_scripts(ranges, arguments.cpus);
  scripts.push_back({"plan.yaml", plan.text});
  nlohmann::ordered_json report = report_head("cluster");
  report["system"] = arguments.system;
  report["frames"] = plan.frames.size();
  report["parts"] = ranges;
  report["files"] = nlohmann::ordered_json::array();
  for (const Script& script : scripts) {
    io::write_text(dir / script.name, script.text);
    report["files"].push_back(script.name);
  }
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
  const auto quoted = [](const std::filesystem::path& path) { return "'" + path.string() + "'"; };
  session.console.print(fmt::format(
      "{} of {}: run {}", counted(std::ssize(ranges), "parts"), counted(std::ssize(plan.frames), "frames"),
      slurm ? "sh " + quoted(dir / "submit.sh")
            : "snakemake --cores all --directory " + quoted(dir) + " -s " + quoted(dir / "Snakefile")));
}

}  // namespace

Command add_cluster(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "cluster", "Write job scripts that split a series over many tasks");
  auto arguments = std::make_shared<ClusterArguments>();
  command.add_option("SYSTEM", arguments->system, "slurm or snakemake");
  command.add_option("INPUT", arguments->input, "A stack, a folder of volumes, or a YAML configuration");
  add_short_options(command, session.short_options, ShortOptionSet::detection);
  command.add_option("-o,--output", arguments->dir, "Folder for the scripts and the results")
      .check(refuse_empty_name)
      .type_name("DIR");
  command.add_option("--tasks", arguments->tasks, "Number of parts of the series")
      .check_positive()
      .type_name("N");
  command.add_option("--cpus", arguments->cpus, "CPU cores per task").check_positive().type_name("N");
  return {&command.app(), [&session, arguments] { run_cluster(session, *arguments); }};
}

}  // namespace motes::app
