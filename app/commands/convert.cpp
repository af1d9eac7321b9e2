/// motes convert: tracks from one format to another.

#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/io/frame_source.h>
#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>

#include "app/command.h"
#include "app/progress.h"
#include "app/report/report.h"
#include "app/run/input.h"
#include "app/run/track_images.h"

namespace motes::app {
namespace {

struct ConvertArguments {
  std::string in, out, like, labels;
};

/// "a, b and c".
std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

bool is_h5_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".h5" || extension == ".hdf5";
}

/// Takes the voxel size and the frame interval from the images, if the tracks do not state them.
void take_scale(const io::SeriesInfo& images, const std::string& in, Config& config, TrackSet& tracks,
                std::vector<std::string>& notes) {
  if (tracks.length_unit == "px" && images.voxel_um && !config.input.voxel_um) {
    config.input.voxel_um = images.voxel_um;
    const Vec3& um = *images.voxel_um;
    notes.push_back(
        fmt::format("positions in px are scaled by the images' voxels of [{:g}, {:g}, {:g}] um [z, y, x]; if "
                    "they are in um already, set input.unit=um",
                    um.z, um.y, um.x));
  }
  if (!tracks.dt_s && images.dt_s) {
    config.input.dt_s = images.dt_s;
    notes.push_back(fmt::format("frame interval: {:g} s, from the images", *images.dt_s));
  }
  scale_tracks(tracks, in, config);
}

void run_convert(Session& session, const ConvertArguments& arguments) {
  Config config = configure(session);
  std::vector<std::string> notes;
  const std::string in = io::tracks_of_run(arguments.in).string();
  TrackSet tracks = read_tracks_scaled(in, config, &notes);
  std::unique_ptr<io::FrameSource> images;
  if (!arguments.like.empty() && !arguments.labels.empty())
    throw UsageError("--labels includes --like; give only one of them");
  const std::string& like = arguments.labels.empty() ? arguments.like : arguments.labels;
  if (!like.empty()) {
    images = open_images_of(like, in, config, notes);
    take_scale(images->info(), in, config, tracks, notes);
  }
  for (const std::string& note : notes) session.console.note("note: " + note);
  const std::vector<std::string> lost = io::lost_in(arguments.out, tracks);
  // A copy also keeps detections, source and configuration, which a TrackSet does not have.
  const bool between_h5 = is_h5_name(arguments.out) && io::is_tracks_h5(in);
  const bool changed =
      config.input.voxel_um || config.input.dt_s || config.input.unit != io::TableUnit::unknown;
  if (between_h5 && changed)
    session.console.note(
        "note: with a new unit or frame interval only the tracks are written, without detections, source and "
        "settings");
  if (between_h5 && !changed) {
    io::copy_tracks_h5(in, arguments.out);
  } else {
    io::TrackImage image = image_of(like, images.get(), tracks, config);
    if (!arguments.labels.empty()) image.labels = [&](std::int32_t frame) { return images->read(frame); };
    io::write_tracks(arguments.out, tracks, image);
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
  if (!lost.empty()) session.console.note("not kept by this format: " + comma_separated(lost));
}

}  // namespace

Command add_convert(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "convert", "Convert tracks between formats (by the output's extension)");
  auto arguments = std::make_shared<ConvertArguments>();
  command.add_option("IN", arguments->in, "Tracks in any readable format");
  command.add_option("OUT,-o,--output", arguments->out,
                     "File to write: .h5, .csv, .trackmate.xml, .geff, .napari.csv, .ctc, .xml (challenge), "
                     ".vtp or .vtkhdf");
  command.add_option("--like", arguments->like, "Images that give voxel size, frame interval and shape")
      .type_name("IMAGE");
  command
      .add_option("--labels", arguments->labels,
                  "As --like, for label images that were tracked: .ctc keeps their objects")
      .type_name("IMAGE");
  add_table_options(command, session);
  add_short_options(command, session.short_options, ShortOptionSet::units);
  return {&command.app(), [&session, arguments] {
            require_argument(arguments->out, "convert needs IN and OUT");
            run_convert(session, *arguments);
          }};
}

}  // namespace motes::app
