/// motes render: tracks, and a frame if given, as a picture.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/frame_source.h>

#include "app/codec.h"
#include "app/command.h"
#include "app/display.h"
#include "app/input.h"
#include "app/render_picture.h"
#include "app/render_scene.h"
#include "app/report.h"

namespace motes::app {
namespace {

struct Arguments {
  std::vector<std::string> tracks, titles;
  std::string picture, colour = "track", range, size = "1600x1200", azimuth = "30", elevation = "20";
  std::string until, tail, frame, line_width = "2", background = "white";
  bool no_axes = false, points = false;
};

/// The option's value through the same checks as configuration keys.
template <class T>
T parse_option(const std::string& text, const std::string& option, const Codec<T>& codec) {
  const auto value = codec.parse(word_value(text));
  if (!value) throw UsageError(option + ": '" + text + "' is not allowed; allowed: " + codec.allowed);
  return *value;
}

/// Two values with a character between them, such as 1600x1200.
template <class T>
std::pair<T, T> parse_pair(const std::string& text, char between, const std::string& option,
                           const std::string& form, const Codec<T>& codec) {
  const std::size_t at = text.find(between);
  const auto half = [&](const std::string& word) { return codec.parse(word_value(word)); };
  const auto first = at == std::string::npos ? std::nullopt : half(text.substr(0, at));
  const auto second = at == std::string::npos ? std::nullopt : half(text.substr(at + 1));
  if (!first || !second) {
    throw UsageError(option + ": '" + text + "' is not allowed; allowed: " + form + ", each " +
                     codec.allowed);
  }
  return {*first, *second};
}

RenderOptions parse_options(const Arguments& arguments) {
  const Codec<std::int32_t> frame = integer<std::int32_t>(0, std::numeric_limits<std::int32_t>::max());
  RenderOptions options;
  options.colour = arguments.colour;
  std::tie(options.width, options.height) =
      parse_pair(arguments.size, 'x', "--size", "WIDTHxHEIGHT in pixels", integer<int>(64, 8192));
  options.azimuth_deg =
      parse_option(arguments.azimuth, "--azimuth", real({-360, 360, true, " from -360 to 360"}));
  options.elevation_deg =
      parse_option(arguments.elevation, "--elevation", real({-90, 90, true, " from -90 to 90"}));
  if (!arguments.until.empty()) options.until = parse_option(arguments.until, "--until", frame);
  if (!arguments.tail.empty()) {
    options.tail = parse_option(arguments.tail, "--tail",
                                integer<std::int32_t>(1, std::numeric_limits<std::int32_t>::max()));
  }
  if (!arguments.range.empty()) {
    options.range = parse_pair(arguments.range, ':', "--range", "LOW:HIGH", real(kAnyNumber));
    if (options.range->first >= options.range->second) {
      throw UsageError("--range: '" + arguments.range + "' is not allowed; LOW must lie below HIGH");
    }
    if (options.colour == "track") {
      throw UsageError(
          "--range: tracks are coloured by their number; give --color time, speed or a property too");
    }
  }
  options.line_width =
      parse_option(arguments.line_width, "--line-width", real({0, 50, false, " above 0, to 50"}));
  options.on_black =
      parse_option(arguments.background, "--background", choice<bool>({{"white", false}, {"black", true}}));
  options.axes = !arguments.no_axes;
  options.points = arguments.points;
  return options;
}

void require_png(const std::string& path) {
  require_argument(path, "render needs -o PICTURE.png");
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension != ".png")
    throw UsageError("-o: '" + path + "' is not a PNG file; pictures are written as .png");
}

/// What tells the files apart: their names, else those of their folders, else the paths.
std::vector<std::string> default_titles(const std::vector<std::string>& paths) {
  std::vector<std::string> stems, folders;
  for (const std::string& path : paths) {
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    stems.push_back(whole.stem().string());
    folders.push_back(whole.parent_path().filename().string());
  }
  for (const auto& names : {stems, folders}) {
    if (std::set<std::string>(names.begin(), names.end()).size() == names.size()) return names;
  }
  return paths;
}

std::vector<RenderInput> read_inputs(const Arguments& arguments, const Config& config) {
  const std::size_t count = arguments.tracks.size();
  if (!arguments.titles.empty() && arguments.titles.size() != count) {
    throw UsageError(
        fmt::format("--title: given {} times for {} files of tracks; give it once for each, in order",
                    arguments.titles.size(), count));
  }
  std::vector<std::string> titles = arguments.titles;
  if (titles.empty()) titles = count > 1 ? default_titles(arguments.tracks) : std::vector<std::string>(1);
  std::vector<RenderInput> inputs;
  for (std::size_t i = 0; i < count; ++i) {
    inputs.push_back({arguments.tracks[i], titles[i], read_tracks_scaled(arguments.tracks[i], config)});
  }
  return inputs;
}

/// The frame of the series to draw, in the unit of the tracks.
VolumeFrame read_frame(const std::string& path, const RenderOptions& options, const Config& config,
                       const std::string& unit) {
  const auto source = io::open_frames(
      path, {config.input.voxel_um, config.input.dt_s, config.input.channel, config.input.axes});
  const io::SeriesInfo& info = source->info();
  const std::int32_t frame = options.until.value_or(0);
  if (frame >= info.frames) {
    throw UsageError(fmt::format("--until: {} holds the frames 0 to {}, not {}; give one of them", path,
                                 info.frames - 1, frame));
  }
  if (unit != "px" && !info.voxel_um) {
    throw UsageError(path +
                     " does not say how large its voxels are; give --set input.voxel_um=[z, y, x], in um");
  }
  VolumeFrame volume = source->read(frame);
  if (unit == "px") volume.voxel_um = {1, 1, 1};
  return volume;
}

/// Between the outermost voxels' centres: that is what is drawn.
Box3 box_of(const VolumeFrame& volume) {
  const Shape3& n = volume.shape;
  const Vec3& v = volume.voxel_um;
  return {{0, 0, 0},
          {static_cast<double>(n.nx - 1) * v.x, static_cast<double>(n.ny - 1) * v.y,
           static_cast<double>(n.nz - 1) * v.z}};
}

nlohmann::ordered_json picture_json(const Arguments& arguments, const std::vector<RenderInput>& inputs,
                                    const Picture& picture) {
  nlohmann::ordered_json report = report_head("render");
  report["output"] = arguments.picture;
  report["size"] = {picture.width, picture.height};
  report["color"] = arguments.colour;
  report["range"] = nullptr;
  if (picture.range) report["range"] = {picture.range->first, picture.range->second};
  report["length_unit"] = inputs.front().tracks.length_unit;
  const Vec3 &low = picture.box.low, &high = picture.box.high;
  report["box_zyx"] = {{low.z, low.y, low.x}, {high.z, high.y, high.x}};
  report["frame"] = nullptr;
  if (!arguments.frame.empty()) report["frame"] = arguments.frame;
  report["panels"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    report["panels"].push_back({{"input", inputs[i].path},
                                {"title", inputs[i].title},
                                {"tracks", inputs[i].tracks.tracks()},
                                {"points", inputs[i].tracks.points()},
                                {"points_drawn", picture.panels[i].points.size()}});
  }
  return report;
}

void run_render(Session& session, const Arguments& arguments) {
  if (arguments.tracks.empty()) throw UsageError("render needs TRACKS, one file or several");
  require_png(arguments.picture);
  const RenderOptions options = parse_options(arguments);
  const Config config = configure(session);
  const std::vector<RenderInput> inputs = read_inputs(arguments, config);
  std::optional<VolumeFrame> volume;
  std::optional<Box3> contents;
  if (!arguments.frame.empty()) {
    volume = read_frame(arguments.frame, options, config, inputs.front().tracks.length_unit);
    contents = box_of(*volume);
  }
  const Picture picture = lay_out(options, inputs, contents);
  std::size_t drawn = 0;
  for (const Panel& panel : picture.panels) drawn += panel.points.size();
  if (drawn == 0) session.console.warn("no track has a point in the frames that --until and --tail leave");

  const Display display;
  const io::RgbImage image = draw(execution_of(config), picture, volume ? &*volume : nullptr);
  io::write_png(arguments.picture, image);
  nlohmann::ordered_json report = picture_json(arguments, inputs, picture);
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
  session.console.print(fmt::format("{} x {} pixels, {} points of tracks: {}", image.width, image.height,
                                    drawn, arguments.picture));
}

}  // namespace

Command add_render(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "render", "Draw a picture of tracks, over a frame if given");
  auto arguments = std::make_shared<Arguments>();
  const auto option = [&](const char* name, std::string& target, const char* doc, const char* type) {
    command.add_option(name, target, doc).type_name(type);
  };
  command.add_option("TRACKS", arguments->tracks, "Tracks in any readable format; several become panels");
  option("-o,--output", arguments->picture, "Picture to write", "PICTURE.png");
  command.add_option("--title", arguments->titles, "Title of a panel (repeatable, in the order of TRACKS)")
      .type_name("TEXT")
      .allow_extra_args(false);
  option("--color", arguments->colour, "Colour by track, time, speed, or a property's name [track]", "WHAT");
  option("--range", arguments->range, "Ends of the colour scale [those of the data]", "LOW:HIGH");
  option("--size", arguments->size, "Width and height in pixels [1600x1200]", "WxH");
  option("--azimuth", arguments->azimuth, "Angle of the camera around z; 0: x to the right [30]", "DEGREES");
  option("--elevation", arguments->elevation, "Angle of the camera above xy; 90: from straight above [20]",
         "DEGREES");
  option("--until", arguments->until, "Last frame drawn [all]", "FRAME");
  option("--tail", arguments->tail, "Draw only so many frames up to there [all]", "N");
  option("--frame", arguments->frame, "Volume series whose frame at --until, or its first, is drawn too",
         "FILE");
  option("--line-width", arguments->line_width, "Width of lines in pixels [2]", "PIXELS");
  option("--background", arguments->background, "white or black [white]", "NAME");
  command.add_flag("--no-axes", arguments->no_axes, "Without box, axes and numbers");
  command.add_flag("--points", arguments->points, "Mark the last position of each track");
  return {&command.app(), [&session, arguments] { run_render(session, *arguments); }};
}

}  // namespace motes::app
