/// motes convert: tracks from one format to another.

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/track_files.h>

#include "app/command.h"
#include "app/input.h"
#include "app/report.h"

namespace motes::app {
namespace {

struct Arguments {
  std::string in, out;
};

void run_convert(Session& session, const Arguments& arguments) {
  const Config config = configure(session);
  const TrackSet tracks = read_tracks_scaled(arguments.in, config);
  io::write_tracks(arguments.out, tracks);

  nlohmann::ordered_json report = report_head("convert");
  report["input"] = arguments.in;
  report["output"] = arguments.out;
  report["length_unit"] = tracks.length_unit;
  report["tracks"] = tracks_json(tracks);
  emit_json(session, report);
  session.console.print(
      fmt::format("{} tracks, {} points: {}", tracks.tracks(), tracks.points(), arguments.out));
}

}  // namespace

Command add_convert(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "convert", "Convert tracks between formats (by the output's extension)");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("IN", arguments->in, "Tracks in any readable format");
  command.add_option("OUT", arguments->out, "File to write: .h5, .csv, .xml, .vtp or .vtkhdf");
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->out, "convert needs IN and OUT");
            run_convert(session, *arguments);
          }};
}

}  // namespace motes::app
