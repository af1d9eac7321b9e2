/// motes render: tracks, and a frame if given, as a picture or a movie.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/io/frame_source.h>

#include "app/command.h"
#include "app/options/codec.h"
#include "app/progress.h"
#include "app/render/display.h"
#include "app/render/movie.h"
#include "app/render/picture.h"
#include "app/render/scene.h"
#include "app/report/report.h"
#include "app/run/input.h"
#include "app/run/track_images.h"

namespace motes::app {
namespace {

struct RenderArguments {
  std::vector<std::string> tracks, titles;
  std::string picture, colour = "track", range, size = "1600x1200", azimuth, elevation;
  std::string until, tail, frame, line_width = "2", background = "white";
  std::string movie, frames_per_s = "10";
  bool no_axes = false, points = false, turn = false;
};

/// Number of pictures for one turn of the camera.
constexpr int kTurn = 120;

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

RenderOptions parse_options(const RenderArguments& arguments) {
  const Codec<std::int32_t> frame = integer<std::int32_t>(0, std::numeric_limits<std::int32_t>::max());
  RenderOptions options;
  options.colour = arguments.colour;
  std::tie(options.width, options.height) =
      parse_pair(arguments.size, 'x', "--size", "WIDTHxHEIGHT in pixels", integer<int>(64, 8192));
  if (!arguments.azimuth.empty())
    options.azimuth_deg =
        parse_option(arguments.azimuth, "--azimuth", real({-360, 360, true, " from -360 to 360"}));
  if (!arguments.elevation.empty())
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
          "--range: tracks are coloured by their number; also give --color time, speed or a property");
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
  require_argument(path, "render needs -o PICTURE.png, or --movie FILE.mp4");
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension != ".png")
    throw UsageError("-o: '" + path + "' is not a PNG file; pictures are written as .png");
}

/// Titles that distinguish the files: their names, else those of their folders, else the paths.
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

std::vector<RenderInput> read_inputs(const RenderArguments& arguments, const Config& config) {
  const std::size_t count = arguments.tracks.size();
  if (!arguments.titles.empty() && arguments.titles.size() != count) {
    throw UsageError(
        fmt::format("--title: given {} times for {} files of tracks; give one for each file, in order",
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

/// A series whose frames are drawn, in the unit of the tracks.
class Volumes {
 public:
  Volumes(const std::string& path, const Config& config, const RenderInput& of,
          std::vector<std::string>& notes)
      : path_(path), unit_(of.tracks.length_unit), source_(open_images_of(path, of.path, config, notes)) {
    if (unit_ != "px" && !source_->info().voxel_um) {
      throw UsageError(path + " does not state its voxel size; give --set input.voxel_um=[z, y, x], in um");
    }
  }
  VolumeFrame read(std::int32_t frame) const {
    const io::SeriesInfo& info = source_->info();
    if (frame < 0 || frame >= info.frames) {
      throw UsageError(fmt::format("--until: {} has the frames 0 to {}, not {}; give one of them", path_,
                                   info.frames - 1, frame));
    }
    VolumeFrame volume = source_->read(frame);
    if (unit_ == "px") volume.voxel_um = {1, 1, 1};
    return volume;
  }

 private:
  std::string path_, unit_;
  std::unique_ptr<io::FrameSource> source_;
};

/// The box between the centres of the outermost voxels, which is the part that is drawn.
Box3 box_of(const VolumeFrame& volume) {
  const Shape3& n = volume.shape;
  const Vec3& v = volume.voxel_um;
  return {{0, 0, 0},
          {static_cast<double>(n.nx - 1) * v.x, static_cast<double>(n.ny - 1) * v.y,
           static_cast<double>(n.nz - 1) * v.z}};
}

/// Whether all points, and the voxels of the frame, lie in one plane across z.
bool is_flat(const std::vector<RenderInput>& inputs, const std::optional<VolumeFrame>& volume) {
  std::optional<double> plane;
  for (const RenderInput& input : inputs)
    for (const double z : input.tracks.z_um)
      if (z != plane.value_or(z))
        return false;
      else
        plane = z;
  return plane && (!volume || volume->shape.nz == 1);
}

/// Looks along z as image viewers do: x to the right, y down.
void look_at_image(RenderOptions& options) { options.azimuth_deg = 0, options.elevation_deg = -90; }

nlohmann::ordered_json picture_json(const RenderArguments& arguments, const std::vector<RenderInput>& inputs,
                                    const Picture& picture) {
  nlohmann::ordered_json report = report_head("render");
  report["output"] = arguments.movie.empty() ? arguments.picture : arguments.movie;
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

/// The first and the last frame with a point.
std::pair<std::int32_t, std::int32_t> frames_of(const std::vector<RenderInput>& inputs) {
  std::int32_t first = std::numeric_limits<std::int32_t>::max(),
               last = std::numeric_limits<std::int32_t>::min();
  for (const RenderInput& input : inputs)
    for (const std::int32_t frame : input.tracks.frame)
      first = std::min(first, frame), last = std::max(last, frame);
  return {first, last};
}

void add_caption(Picture& picture, const std::string& words) {
  const double size = std::max(10.0, 0.022 * std::min(picture.width, picture.height));
  picture.overlay.texts.push_back({{size, picture.height - size}, words, size, -1, 1});
}

/// Draws the frames one after the other, or one turn of the camera. Returns the number of pictures.
int write_movie(Session& session, const RenderArguments& arguments, RenderOptions options,
                const Config& config, const std::vector<RenderInput>& inputs, const Volumes* volumes,
                const std::optional<Box3>& contents) {
  const double rate =
      parse_option(arguments.frames_per_s, "--fps", real({0.1, 120, true, " from 0.1 to 120"}));
  const auto [first, end] = frames_of(inputs);
  const std::int32_t last = std::min(options.until.value_or(end), end);
  if (last < first)
    throw UsageError(fmt::format("--until: the tracks begin in frame {}; give that or more", first));
  const std::int64_t count = arguments.turn ? kTurn : std::int64_t{last} - first + 1;
  std::optional<VolumeFrame> volume;
  if (volumes != nullptr && arguments.turn) volume = volumes->read(options.until.value_or(0));
  const double azimuth = options.azimuth_deg;
  Movie movie(arguments.movie, options.width, options.height, rate);
  ProgressBar progress(session.console, "drawing", "pictures", count);
  for (std::int64_t k = 0; k < count; ++k) {
    if (arguments.turn) {
      options.azimuth_deg = std::remainder(azimuth + 360.0 * static_cast<double>(k) / kTurn, 360.0);
    } else {
      options.until = static_cast<std::int32_t>(first + k);
      if (volumes != nullptr) volume = volumes->read(*options.until);
    }
    Picture picture = lay_out(options, inputs, contents);
    if (!arguments.turn) add_caption(picture, fmt::format("frame {}", first + k));
    movie.add(draw(execution_of(config), picture, volume ? &*volume : nullptr));
    progress.advance();
  }
  movie.finish();
  progress.finish();
  return static_cast<int>(count);
}

void run_render(Session& session, const RenderArguments& arguments) {
  if (arguments.tracks.empty()) throw UsageError("render needs TRACKS, one file or several");
  const bool moves = !arguments.movie.empty();
  if (moves && !arguments.picture.empty()) throw UsageError("render writes -o or --movie; give one of them");
  if (!moves && arguments.turn) throw UsageError("--turn: only for a movie; also give --movie FILE.mp4");
  if (moves)
    require_movie_name(arguments.movie);
  else
    require_png(arguments.picture);
  RenderOptions options = parse_options(arguments);
  const Config config = configure(session);
  const std::vector<RenderInput> inputs = read_inputs(arguments, config);
  std::optional<Volumes> volumes;
  std::optional<VolumeFrame> volume;
  std::optional<Box3> contents;
  if (!arguments.frame.empty()) {
    std::vector<std::string> notes;
    volumes.emplace(arguments.frame, config, inputs.front(), notes);
    for (const std::string& note : notes) session.console.note("note: " + note);
    volume = volumes->read(options.until.value_or(0));
    contents = box_of(*volume);
  }
  if (arguments.azimuth.empty() && arguments.elevation.empty() && !arguments.turn && is_flat(inputs, volume))
    look_at_image(options);
  const Picture picture = lay_out(options, inputs, contents);
  std::size_t drawn = 0;
  for (const Panel& panel : picture.panels) drawn += panel.points.size();
  if (drawn == 0) session.console.warn("no track has a point in the frames that --until and --tail select");

  const Display display;
  nlohmann::ordered_json report = picture_json(arguments, inputs, picture);
  if (moves) {
    const int pictures =
        write_movie(session, arguments, options, config, inputs, volumes ? &*volumes : nullptr, contents);
    report["pictures"] = pictures;
    session.console.print(fmt::format("{} pictures of {} x {} pixels: {}", pictures, options.width,
                                      options.height, arguments.movie));
  } else {
    const io::RgbImage image = draw(execution_of(config), picture, volume ? &*volume : nullptr);
    io::write_png(arguments.picture, image);
    session.console.print(fmt::format("{} x {} pixels, {} points of tracks: {}", image.width, image.height,
                                      drawn, arguments.picture));
  }
  report["warnings"] = session.console.warnings();
  emit_json(session, report);
}

}  // namespace

Command add_render(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "render", "Draw a picture or a movie of tracks, over a frame if given");
  auto arguments = std::make_shared<RenderArguments>();
  const auto option = [&](const char* name, std::string& target, const char* doc, const char* type) {
    command.add_option(name, target, doc).type_name(type);
  };
  command.add_option("TRACKS", arguments->tracks, "Tracks in any readable format; one panel for each file");
  option("-o,--output", arguments->picture, "Picture to write", "PICTURE.png");
  option("--movie", arguments->movie, "Movie of the frames to write instead of a picture (needs ffmpeg)",
         "FILE.mp4|.gif");
  command.add_flag("--turn", arguments->turn, "Movie: turn once around z instead of playing the frames");
  option("--fps", arguments->frames_per_s, "Movie: frames per second [10]", "RATE");
  command.add_option("--title", arguments->titles, "Title of a panel (repeatable, in the order of TRACKS)")
      .type_name("TITLE")
      .allow_extra_args(false);
  option("--color", arguments->colour, "Colour by track, time, speed, or a property's name [track]", "WHAT");
  option("--range", arguments->range, "Ends of the colour scale [those of the data]", "LOW:HIGH");
  option("--size", arguments->size, "Width and height in pixels [1600x1200]", "WxH");
  option("--azimuth", arguments->azimuth,
         "Angle of the camera around z; 0: x to the right [30; flat tracks: 0]", "DEGREES");
  option("--elevation", arguments->elevation,
         "Angle of the camera above xy; -90: y down, as in images [20; flat tracks: -90]", "DEGREES");
  option("--until", arguments->until, "Last frame drawn [all]", "FRAME");
  option("--tail", arguments->tail, "Draw only the last N frames up to --until [all]", "N");
  option("--frame", arguments->frame,
         "Also draw the frame of this volume series at --until (without it: the first)", "FILE");
  option("--line-width", arguments->line_width, "Width of lines in pixels [2]", "PIXELS");
  option("--background", arguments->background, "white or black [white]", "NAME");
  command.add_flag("--no-axes", arguments->no_axes, "Do not draw the box, axes and numbers");
  command.add_flag("--points", arguments->points, "Mark the last position of each track");
  return {&command.app(), [&session, arguments] { run_render(session, *arguments); }};
}

}  // namespace motes::app
