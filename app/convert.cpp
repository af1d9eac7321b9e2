/// motes convert: tracks from one format to another.

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/frame_source.h>
#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>

#include "app/command.h"
#include "app/input.h"
#include "app/progress.h"
#include "app/report.h"

namespace motes::app {
namespace {

struct Arguments {
  std::string in, out, like;
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

/// What formats that point to images need: of the images that --like names, else of the configuration.
io::TrackImage image_of(const std::string& like, const TrackSet& tracks, const Config& config) {
  io::TrackImage image;
  image.voxel_um = config.input.voxel_um;
  if (config.detection.radius_um) image.radius_um = config.detection.radius_um->x;
  if (!like.empty()) {
    const auto source = io::open_frames(
        like, {config.input.voxel_um, config.input.dt_s, config.input.channel, config.input.axes});
    image.path = std::filesystem::absolute(like).lexically_normal().string();
    image.voxel_um = source->info().voxel_um;
    image.shape = source->info().shape;
    image.frames = source->info().frames;
  }
  if (tracks.length_unit == "px") image.voxel_um.reset();
  return image;
}

void run_convert(Session& session, const Arguments& arguments) {
  const Config config = configure(session);
  std::vector<std::string> notes;
  const TrackSet tracks = read_tracks_scaled(arguments.in, config, &notes);
  for (const std::string& note : notes) session.console.note("note: " + note);
  const std::vector<std::string> lost = io::lost_in(arguments.out, tracks);
  // A copy keeps what the tracks do not hold, too: detections, source, configuration.
  const bool between_h5 = is_h5_name(arguments.out) && io::is_tracks_h5(arguments.in);
  const bool changed =
      config.input.voxel_um || config.input.dt_s || config.input.unit != io::TableUnit::unknown;
  if (between_h5 && changed)
    session.console.note(
        "note: with a new unit or frame interval only the tracks are written, without detections, source and "
        "settings");
  if (between_h5 && !changed) {
    io::copy_tracks_h5(arguments.in, arguments.out);
  } else {
    io::write_tracks(arguments.out, tracks, image_of(arguments.like, tracks, config));
  }

  nlohmann::ordered_json report = report_head("convert");
  report["input"] = arguments.in;
  report["output"] = arguments.out;
  report["length_unit"] = tracks.length_unit;
  report["tracks"] = tracks_json(tracks);
  report["notes"] = notes;
  report["lost"] = lost;
  emit_json(session, report);
  session.console.print(fmt::format("{}, {}: {}", counted(std::ssize(tracks.track_id), "tracks"),
                                    counted(std::ssize(tracks.frame), "points"), arguments.out));
  if (!lost.empty()) session.console.note("not kept by this format: " + joined(lost));
}

}  // namespace

Command add_convert(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "convert", "Convert tracks between formats (by the output's extension)");
  auto arguments = std::make_shared<Arguments>();
  command.add_option("IN", arguments->in, "Tracks in any readable format");
  command.add_option("OUT", arguments->out,
                     "File to write: .h5, .csv, .trackmate.xml, .geff, .napari.csv, .ctc, .xml (challenge), "
                     ".vtp or .vtkhdf");
  command.add_option("--like", arguments->like, "The images, for .trackmate.xml and .ctc").type_name("IMAGE");
  add_table_options(command, session);
  add_short_options(command, session.short_options, ShortOptionSet::units);
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->out, "convert needs IN and OUT");
            run_convert(session, *arguments);
          }};
}

}  // namespace motes::app
