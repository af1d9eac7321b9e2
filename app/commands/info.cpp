/// motes info: this build, its solvers and devices; or the contents of a file.

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/io/ctc.h>
#include <motes/io/track_files.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/registry.h>

#include "app/build_info.h"
#include "app/command.h"
#include "app/options/options.h"
#include "app/report/report.h"
#include "app/run/input.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

struct InfoArguments {
  std::string file;
  bool options = false;
};

std::string solver_table() {
  const auto line = [](auto name, auto family, auto backends, auto costs, auto guarantee, auto source) {
    return fmt::format("  {:<18} {:<12} {:<9} {:<25} {:<10} {}\n", name, family, backends, costs, guarantee,
                       source);
  };
  std::string table = line("solver", "family", "backends", "costs", "guarantee", "source");
  for (const matching::SolverInfo& s : matching::solvers()) {
    table += line(s.name, to_string(s.family()), to_string(s.backends), to_string(s.costs),
                  to_string(s.guarantee), s.source);
    for (const matching::OptionInfo& o : s.options)
      table += fmt::format("    ?{}={} [{}]: {}\n", o.name, o.values, o.otherwise, o.meaning);
  }
  table += fmt::format("\n  {:<18} {:<9} {}\n", "initialiser", "backends", "source");
  for (const matching::InitialiserInfo& i : matching::initialisers())
    table += fmt::format("  {:<18} {:<9} {}\n", i.name, to_string(i.backends),
                         i.source.empty() ? i.promise : i.source);
  return table;
}

ordered_json build_json() {
  ordered_json json = report_head("info");
  json["compiler"] = compiler();
  json["cuda"] = cuda_state();
  json["openmp"] = openmp_state();
  json["devices"] = ordered_json::array();
  for (const gpu::DeviceInfo& d : gpu::list_devices().devices) {
    json["devices"].push_back({{"index", d.index},
                               {"name", d.name},
                               {"compute_capability", fmt::format("{}.{}", d.compute_major, d.compute_minor)},
                               {"multiprocessors", d.multiprocessors},
                               {"memory_bytes", d.memory_bytes}});
  }
  json["solvers"] = ordered_json::array();
  for (const matching::SolverInfo& s : matching::solvers()) {
    json["solvers"].push_back({{"name", s.name},
                               {"family", to_string(s.family())},
                               {"backends", to_string(s.backends)},
                               {"costs", to_string(s.costs)},
                               {"guarantee", to_string(s.guarantee)},
                               {"source", s.source}});
    ordered_json options = ordered_json::array();
    for (const matching::OptionInfo& o : s.options)
      options.push_back(
          {{"name", o.name}, {"values", o.values}, {"default", o.otherwise}, {"meaning", o.meaning}});
    json["solvers"].back()["options"] = options;
  }
  json["initialisers"] = ordered_json::array();
  for (const matching::InitialiserInfo& i : matching::initialisers()) {
    json["initialisers"].push_back({{"name", i.name},
                                    {"backends", to_string(i.backends)},
                                    {"promise", i.promise},
                                    {"source", i.source}});
  }
  json["formats"] = ordered_json::array();
  for (const io::TrackFormat& f : io::track_formats()) {
    json["formats"].push_back(
        {{"name", f.name}, {"extension", f.extension}, {"reads", f.reads}, {"writes", f.writes}});
  }
  return json;
}

std::string devices_text() {
  const gpu::DeviceReport report = gpu::list_devices();
  if (report.devices.empty()) return "GPU       none: " + report.why_none + "\n";
  std::string text;
  for (const gpu::DeviceInfo& d : report.devices) {
    text += fmt::format("GPU {:<5} {}, compute capability {}.{}, {} multiprocessors, {:.1f} GiB\n", d.index,
                        d.name, d.compute_major, d.compute_minor, d.multiprocessors,
                        static_cast<double>(d.memory_bytes) / (1 << 30));
  }
  return text;
}

std::string build_text() {
  std::string text = fmt::format("motes {}\ncompiler  {}\nCUDA      {}\nCPU       {}\n", version(),
                                 compiler(), cuda_state(), openmp_state());
  text += devices_text() + "\n" + solver_table() + "\n  track format       extension    reads writes\n";
  for (const io::TrackFormat& f : io::track_formats()) {
    text += fmt::format("  {:<18} {:<12} {:<5} {}\n", f.name, f.extension, f.reads ? "yes" : "no",
                        f.writes ? "yes" : "no");
  }
  return text.substr(0, text.size() - 1);
}

std::vector<std::string> describe(const TrackSet& tracks, const std::string& path) {
  return {fmt::format("input:          {} (tracks)", path),
          fmt::format("tracks:         {}", tracks.tracks()),
          fmt::format("points:         {}", tracks.points()), "length unit:    " + tracks.length_unit,
          "frame interval: " + (tracks.dt_s ? fmt::format("{:g} s", *tracks.dt_s) : std::string("unknown"))};
}

/// The file's tracks; none if it cannot be read as tracks, such as a table without identities. The reader of
/// points then reports other errors.
std::optional<TrackSet> try_tracks(const std::string& path, const Config& config) {
  try {
    return read_tracks_scaled(path, config);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The input; showing a table does not require a scale.
OpenedInput open_without_scale(Config config) {
  if (!config.input.voxel_um) {
    try {
      return open_input(config);
    } catch (const UsageError&) {
      config.input.voxel_um = Vec3{1, 1, 1};
    }
  }
  return open_input(config);
}

void show(Session& session, const std::vector<std::string>& lines, const ordered_json& json) {
  ordered_json report = report_head("info");
  report["input"] = json;
  emit_json(session, report);
  for (const std::string& line : lines) session.console.print(line);
}

void show_file(Session& session, const std::string& path) {
  Config config = configure(session, path);
  if (io::is_frames(config.input.path) && !io::is_ctc(config.input.path)) {
    const auto source = io::open_frames(config.input.path, {config.input.voxel_um, config.input.dt_s,
                                                            config.input.channel, config.input.axes});
    return show(session, app::describe(source->info()), to_json(source->info()));
  }
  if (const auto tracks = try_tracks(config.input.path, config)) {
    ordered_json json{
        {"path", config.input.path}, {"format", "tracks"}, {"length_unit", tracks->length_unit}};
    json.update(tracks_json(*tracks));
    return show(session, describe(*tracks, config.input.path), json);
  }
  const OpenedInput input = open_without_scale(config);
  show(session, app::describe(input), to_json(input));
}

void run_info(Session& session, const InfoArguments& arguments) {
  if (arguments.options) {
    const std::string page = options_markdown();
    return session.console.print(std::string_view(page).substr(0, page.size() - 1));
  }
  if (!arguments.file.empty()) return show_file(session, arguments.file);
  configure(session);
  emit_json(session, build_json());
  session.console.print(build_text());
}

}  // namespace

Command add_info(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "info", "Show the contents of a file, or this build with its solvers and devices");
  auto arguments = std::make_shared<InfoArguments>();
  command.add_option("FILE", arguments->file, "A series, a table, or tracks");
  add_table_options(command, session);
  command.add_flag("--options", arguments->options, "Print docs/configuration.md: every configuration key");
  return {&command.app(), [&session, arguments] { run_info(session, *arguments); }};
}

}  // namespace motes::app
