/// motes convert: tracks from one format to another.

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>

#include "app/command.h"
#include "app/input.h"
#include "app/report.h"

namespace motes::app {
namespace {

struct Arguments {
  std::string in, out;
};

/// "a, b and c".
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

bool is_h5_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".h5" || extension == ".hdf5";
}

void run_convert(Session& session, const Arguments& arguments) {
  const Config config = configure(session);
  std::vector<std::string> notes;
  const TrackSet tracks = read_tracks_scaled(arguments.in, config, &notes);
  for (const std::string& note : notes) session.console.note("note: " + note);
  const std::vector<std::string> lost = io::lost_in(arguments.out, tracks);
  // A copy keeps what the tracks do not hold, too: detections, source, configuration.
  const bool copy = is_h5_name(arguments.out) && io::is_tracks_h5(arguments.in) && !config.input.voxel_um;
  if (copy) {
    io::copy_tracks_h5(arguments.in, arguments.out);
  } else {
    io::write_tracks(arguments.out, tracks);
  }

  nlohmann::ordered_json report = report_head("convert");
  report["input"] = arguments.in;
  report["output"] = arguments.out;
  report["length_unit"] = tracks.length_unit;
  report["tracks"] = tracks_json(tracks);
  report["notes"] = notes;
  report["lost"] = lost;
  emit_json(session, report);
  session.console.print(
      fmt::format("{} tracks, {} points: {}", tracks.tracks(), tracks.points(), arguments.out));
  if (!lost.empty()) session.console.note("not kept by this format: " + joined(lost));
}

}  // namespace

Command add_convert(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "convert", "Convert tracks between formats (by the output's extension)");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("IN", arguments->in, "Tracks in any readable format");
  command.add_option(
      "OUT", arguments->out,
      "File to write: .h5, .csv, .trackmate.xml, .geff, .napari.csv, .xml (challenge), .vtp or .vtkhdf");
  add_table_options(command, session);
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->out, "convert needs IN and OUT");
            run_convert(session, *arguments);
          }};
}

}  // namespace motes::app
