// Pictures of tracks: the layout as numbers, and the pixels that VTK draws. Without a display and Xvfb the
// drawing tests are skipped with a message.

#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPNGReader.h>

#include <motes/base/errors.h>
#include <motes/io/ome_tiff_writer.h>

#include "app/render/axes.h"
#include "app/render/display.h"
#include "app/render/picture.h"
#include "tests/app/run_motes.h"
#include "tests/support/files.h"
#include "tests/support/skip.h"

using namespace motes;
using namespace motes::app;
using testing::run_motes;
using testing::TempDir;

namespace {

/// The reason why nothing can be drawn here; empty if it can.
std::string why_no_display() {
  try {
    const Display display;
    return "";
  } catch (const ResourceError& error) {
    return error.what();
  }
}

#define MOTES_NEED_DISPLAY() \
  if (const std::string why_ = why_no_display(); !why_.empty()) MOTES_SKIP(why_)

struct Pixels {
  int width = 0, height = 0;
  std::map<std::array<int, 3>, int> colours;  ///< number of pixels of each colour
  int other_than(const std::array<int, 3>& background) const {
    const auto found = colours.find(background);
    return width * height - (found == colours.end() ? 0 : found->second);
  }
  /// Number of pixels that are clearly not grey.
  int colourful() const {
    int count = 0;
    for (const auto& [c, n] : colours) {
      if (std::max({c[0], c[1], c[2]}) - std::min({c[0], c[1], c[2]}) > 40) count += n;
    }
    return count;
  }
};

Pixels pixels_of(const std::filesystem::path& path) {
  vtkNew<vtkPNGReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  vtkImageData* image = reader->GetOutput();
  Pixels pixels{image->GetDimensions()[0], image->GetDimensions()[1], {}};
  REQUIRE(image->GetNumberOfScalarComponents() == 3);
  const auto* bytes = static_cast<const unsigned char*>(image->GetScalarPointer());
  for (int i = 0; i < pixels.width * pixels.height; ++i) {
    ++pixels.colours[{bytes[3 * i], bytes[3 * i + 1], bytes[3 * i + 2]}];
  }
  return pixels;
}

constexpr std::array kWhite{255, 255, 255}, kBlack{0, 0, 0};

/// Three straight tracks along x, one with a gap of two frames in its middle if `hole`.
std::filesystem::path write_lines(const std::filesystem::path& dir, bool hole) {
  std::string text = "track_id,frame,x_um,y_um,z_um,weight\n";
  for (int track = 1; track <= 3; ++track) {
    for (int frame = 0; frame < 10; ++frame) {
      if (hole && track == 2 && (frame == 4 || frame == 5)) continue;
      text += std::to_string(track) + "," + std::to_string(frame) + "," + std::to_string(frame) + "," +
              std::to_string(3 * track) + "," + std::to_string(2 * track) + "," + std::to_string(track) +
              "\n";
    }
  }
  const auto path = dir / (hole ? "hole.csv" : "lines.csv");
  testing::write_file(path, text);
  return path;
}

TrackSet one_track(std::vector<std::int32_t> frames) {
  TrackSet tracks;
  tracks.track_id = {7};
  tracks.track_offsets = {0, static_cast<std::int64_t>(frames.size())};
  for (const auto frame : frames) {
    tracks.frame.push_back(frame);
    tracks.detection.push_back(-1);
    tracks.time_s.push_back(frame);
    tracks.x_um.push_back(frame);
    tracks.y_um.push_back(2 * frame);
    tracks.z_um.push_back(0);
  }
  return tracks;
}

/// Sets an environment variable during its lifetime.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* former = std::getenv(name)) former_ = former;
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { former_ ? setenv(name_, former_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> former_;
};

}  // namespace

TEST_CASE("the camera shows all of the box, touching the room's sides") {
  const Box3 box{{-1, 0, 5}, {9, 4, 7}};
  const Rect room{30, 20, 400, 300};
  for (const double azimuth : {-360.0, 0.0, 37.0, 90.0, 200.0}) {
    for (const double elevation : {-90.0, -20.0, 0.0, 45.0, 90.0}) {
      const View view = fit_view(box, azimuth, elevation, room);
      double left = 1e9, right = -1e9, bottom = 1e9, top = -1e9;
      for (int i = 0; i < 8; ++i) {
        const Pixel p = view.project(box.corner(i));
        left = std::min(left, p.x);
        right = std::max(right, p.x);
        bottom = std::min(bottom, p.y);
        top = std::max(top, p.y);
      }
      CHECK(left >= 30 - 1e-6);
      CHECK(right <= 430 + 1e-6);
      CHECK(bottom >= 20 - 1e-6);
      CHECK(top <= 320 + 1e-6);
      CHECK(((right - left == Approx(400)) || (top - bottom == Approx(300))));
    }
  }
  const View front = fit_view(box, 0, 0, room);
  CHECK(front.project({9, 2, 6}).x > front.project({-1, 2, 6}).x);  // x to the right
  CHECK(front.project({4, 2, 7}).y > front.project({4, 2, 5}).y);   // z up
  CHECK(front.depth({4, 4, 6}) > front.depth({4, 0, 6}));           // y away
  const View above = fit_view(box, 0, 90, room);
  CHECK(above.project({4, 4, 6}).y > above.project({4, 0, 6}).y);
}

TEST_CASE("ticks are round numbers inside the range") {
  const Ticks ticks = ticks_between(0, 20, 5);
  CHECK(ticks.labels == std::vector<std::string>{"0", "5", "10", "15", "20"});
  CHECK(ticks_between(-0.1, 0.21, 4).labels == std::vector<std::string>{"-0.1", "0", "0.1", "0.2"});
  for (const double high : {1e-7, 0.3, 7.0, 12345.0, 1e9}) {
    for (int most = 1; most < 12; ++most) {
      const Ticks some = ticks_between(0, high, most);
      CHECK(static_cast<int>(some.values.size()) <= most + 1);
      CHECK(!some.values.empty());
      CHECK(some.values.back() <= high);
    }
  }
}

TEST_CASE("a plane is seen as one frame") {
  std::vector<RenderInput> inputs{{"t", "", one_track({0, 1, 2, 3})}};
  inputs[0].tracks.y_um = {0, 3, 1, 2};
  inputs[0].tracks.z_um.assign(4, 0);
  RenderOptions options;
  options.azimuth_deg = 0;
  options.elevation_deg = -90;
  const Picture picture = lay_out(options, inputs);
  const Vec3 front = picture.box.low, back{front.x, front.y, picture.box.high.z};
  const Pixel a = picture.panels[0].view.project(front), b = picture.panels[0].view.project(back);
  CHECK(std::hypot(a.x - b.x, a.y - b.y) < 1);
}

TEST_CASE("lines are broken where frames are missing, and cut by until and tail") {
  const std::vector<RenderInput> inputs{{"t", "", one_track({0, 1, 2, 5, 6, 9})}};
  using Lines = std::vector<std::pair<std::size_t, std::size_t>>;
  RenderOptions options;
  options.points = true;
  CHECK(lay_out(options, inputs).panels[0].lines == Lines{{0, 3}, {3, 5}, {5, 6}});
  CHECK(lay_out(options, inputs).panels[0].marks == std::vector<std::size_t>{5});
  options.until = 5;
  CHECK(lay_out(options, inputs).panels[0].lines == Lines{{0, 3}, {3, 4}});
  options.tail = 5;
  const Picture picture = lay_out(options, inputs);
  CHECK(picture.panels[0].lines == Lines{{0, 2}, {2, 3}});
  CHECK(picture.panels[0].points[0].x == 1);
  CHECK(picture.panels[0].marks == std::vector<std::size_t>{2});
  CHECK(picture.box.high.x == lay_out({}, inputs).box.high.x);  // the box does not depend on what is drawn
  CHECK(picture.box.high.z > picture.box.low.z);                // flat tracks have a box with a height
}

TEST_CASE("a point without a finite position breaks its line") {
  std::vector<RenderInput> inputs{{"t", "", one_track({0, 1, 2, 3, 4})}};
  inputs[0].tracks.y_um[2] = std::nan("");
  CHECK(lay_out({}, inputs).panels[0].lines.size() == 2);
  for (double& x : inputs[0].tracks.x_um) x = std::nan("");
  CHECK_THROWS_AS(lay_out({}, inputs), InputError);
}

TEST_CASE("the colour scale rises in lightness and tracks differ from their neighbours") {
  const auto light = [](const Colour& c) {
    const auto linear = [&](std::size_t i) { return std::pow(c[i] / 255.0, 2.2); };
    return 0.2126 * linear(0) + 0.7152 * linear(1) + 0.0722 * linear(2);
  };
  for (const bool on_black : {false, true}) {
    for (int i = 0; i < 50; ++i) {
      CHECK(light(scale_colour((i + 1) / 50.0, on_black)) > light(scale_colour(i / 50.0, on_black)));
      CHECK(track_colour(i, on_black) != track_colour(i + 1, on_black));
    }
  }
  CHECK(scale_colour(std::nan(""), false) == Colour{128, 128, 128});
  CHECK(scale_colour(7, false) == scale_colour(1, false));
}

TEST_CASE("render refuses what it cannot draw, in one line") {
  const TempDir dir;
  const std::string lines = write_lines(dir.path(), false).string(), out = (dir / "a.png").string();
  const auto refused = [&](std::vector<std::string> arguments, int code, const std::string& word) {
    arguments.insert(arguments.begin(), "render");
    const auto outcome = run_motes(arguments);
    INFO(outcome.err);
    CHECK(outcome.code == code);
    CHECK(testing::is_one_error_line(outcome.err));
    CHECK_THAT(outcome.err, Catch::Contains(word));
    CHECK(!std::filesystem::exists(out));
  };
  refused({}, 2, "needs TRACKS");
  refused({lines}, 2, "needs -o");
  refused({lines, "-o", "a.jpg"}, 2, "a.jpg");
  refused({lines, "-o", out, "--size", "0x10"}, 2, "--size");
  refused({lines, "-o", out, "--size", "64x64"}, 2, "--size");
  refused({lines, "-o", out, "--color", "wieght"}, 2, "did you mean 'weight'");
  refused({lines, "-o", out, "--color", "blue"}, 2, "has no property 'blue'; it has track, time, speed, ");
  refused({lines, "-o", out, "--background", "blue"}, 2, "white or black");
  refused({lines, "-o", out, "--elevation", "91"}, 2, "--elevation");
  refused({lines, "-o", out, "--tail", "0"}, 2, "--tail");
  refused({lines, "-o", out, "--range", "1:2"}, 2, "--range");
  refused({lines, "-o", out, "--color", "time", "--range", "2:1"}, 2, "--range");
  refused({lines, lines, "-o", out, "--title", "one"}, 2, "--title");
  refused({(dir / "none.csv").string(), "-o", out}, 3, "none.csv");
  testing::write_file(dir / "empty.csv", "track_id,frame,x_um,y_um,z_um\n");
  refused({(dir / "empty.csv").string(), "-o", out}, 3, "empty.csv");
}

TEST_CASE("without a display and without Xvfb render says what to do") {
  const TempDir dir;
  const std::string lines = write_lines(dir.path(), false).string(), out = (dir / "a.png").string();
  const Environment no_path("PATH", "/nonexistent");
  for (const char* display : {static_cast<const char*>(nullptr), ":4711", "nonsense"}) {
    const Environment no_display("DISPLAY", display);
    const auto outcome = run_motes({"render", lines, "-o", out});
    CHECK(outcome.code == 4);
    CHECK(testing::is_one_error_line(outcome.err));
    CHECK_THAT(outcome.err, Catch::Contains("xvfb-run -a motes render"));
    CHECK(!std::filesystem::exists(out));
  }
}

TEST_CASE("displays that are started have numbers of three digits, one each") {
  MOTES_NEED_DISPLAY();
  const Environment no_display("DISPLAY", nullptr);
  std::set<std::string> names;
  const auto take = [&] {
    const char* name = std::getenv("DISPLAY");
    REQUIRE(name != nullptr);
    CHECK(std::string(name).size() == 4);  // MPI programs look for GPUs at displays 0 to 9
    names.insert(name);
  };
  const Display first;
  take();
  const Environment hidden("DISPLAY", nullptr);
  const Display second;
  take();
  CHECK(names.size() == 2);
}

TEST_CASE("if VTK ends its process, render says what to do and leaves no file") {
  MOTES_NEED_DISPLAY();
  const TempDir dir;
  const std::string lines = write_lines(dir.path(), false).string();
  const Environment indirect("LIBGL_ALWAYS_INDIRECT", "1");  // Xvfb rejects it, and VTK aborts
  for (const char* target : {"a.png", "a.gif"}) {
    const std::string out = (dir / target).string();
    const bool movie = out.ends_with("gif");
    const auto outcome = run_motes({"render", lines, movie ? "--movie" : "-o", out, "--size", "160x120"});
    INFO(outcome.err);
    CHECK(outcome.code == 4);
    CHECK(testing::is_one_error_line(outcome.err));
    CHECK_THAT(outcome.err, Catch::Contains("xvfb-run -a motes render"));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);  // the tracks
}

TEST_CASE("a picture has its size, colours and no line across missing frames") {
  MOTES_NEED_DISPLAY();
  const TempDir dir;
  const auto render = [&](bool hole, std::vector<std::string> more) {
    const auto out = dir / "picture.png";
    more.insert(more.begin(), {"render", write_lines(dir.path(), hole).string(), "-o", out.string(), "--size",
                               "400x300", "--quiet"});
    const auto outcome = run_motes(more);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return pixels_of(out);
  };
  const Pixels whole = render(false, {"--no-axes"});
  CHECK(whole.width == 400);
  CHECK(whole.height == 300);
  CHECK(whole.colourful() > 300);
  CHECK(whole.colours.size() > 50);
  CHECK(render(false, {"--no-axes"}).colours == whole.colours);  // the same picture twice

  const Pixels hole = render(true, {"--no-axes"});
  // A third of one of three lines is missing, and nothing is drawn in its place.
  CHECK(hole.colourful() < whole.colourful() * 0.96);
  CHECK(hole.colourful() > whole.colourful() * 0.80);

  CHECK(render(false, {}).other_than(kWhite) > whole.other_than(kWhite) + 500);  // axes
  CHECK(render(false, {"--no-axes", "--background", "black"}).colours.count(kBlack) == 1);
  CHECK(render(false, {"--no-axes", "--points"}).colourful() > whole.colourful());
  CHECK(render(false, {"--no-axes", "--tail", "3"}).colourful() < whole.colourful() / 2);
  CHECK(render(false, {"--no-axes", "--line-width", "6"}).colourful() > whole.colourful() * 2);
  CHECK(render(false, {"--color", "weight"}).colourful() > whole.colourful());  // the colour bar
}

TEST_CASE("flat tracks, and a plane behind them, are shown as image viewers show them") {
  MOTES_NEED_DISPLAY();
  const TempDir dir;
  testing::write_file(dir / "flat.csv", "track_id,frame,x_um,y_um\n1,0,1,1\n1,1,9,2\n2,0,2,7\n2,1,8,9\n");
  testing::write_file(dir / "deep.csv", "track_id,frame,x_um,y_um,z_um\n1,0,1,1,0\n1,1,9,2,3\n");
  VolumeFrame plane;
  plane.shape = {1, 12, 12};
  plane.voxel_um = {1, 1, 1};
  std::vector<std::uint8_t> voxels(144, 10);
  for (const std::size_t i : {40U, 41U, 52U, 53U}) voxels[i] = 200;
  plane.voxels = voxels;
  io::OmeTiffWriter writer(dir / "plane.ome.tif", {1, 1.0, true});
  writer.write(plane);
  writer.close();
  const auto render = [&](const char* tracks, std::vector<std::string> more) {
    more.insert(more.begin(), {"render", (dir / tracks).string(), "-o", (dir / "a.png").string(), "--size",
                               "400x300", "--quiet"});
    const auto outcome = run_motes(more);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return testing::slurp(dir / "a.png");
  };
  const std::string flat = render("flat.csv", {});
  CHECK(flat == render("flat.csv", {"--azimuth", "0", "--elevation", "-90"}));
  CHECK(render("deep.csv", {}) == render("deep.csv", {"--azimuth", "30", "--elevation", "20"}));
  CHECK(render("flat.csv", {"--elevation", "20"}) == render("flat.csv", {"--azimuth", "30"}));
  render("flat.csv", {"--frame", (dir / "plane.ome.tif").string(), "--background", "black", "--no-axes"});
  int grey = 0;
  for (const auto& [c, n] : pixels_of(dir / "a.png").colours)
    if (c[0] == c[1] && c[1] == c[2] && c[0] > 100) grey += n;
  CHECK(grey > 300);  // 2 x 2 of 12 x 12 voxels
}

TEST_CASE("a frame is drawn behind its tracks, and several tracks become panels") {
  MOTES_NEED_DISPLAY();
  const TempDir dir;
  const auto simulated = testing::simulate_small(dir.path(), true);
  const std::string truth = (simulated / "truth.h5").string();
  const std::string frames = (simulated / "frames" / "frames.ome.tif").string();
  const auto out = dir / "picture.png";
  const auto render = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"render", truth, "-o", out.string(), "--size", "400x300", "--json", "-"});
    const auto outcome = run_motes(more);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return std::pair{pixels_of(out), nlohmann::json::parse(outcome.out)};
  };
  const auto plain = render({"--background", "black", "--until", "2"}).first;
  const auto framed = render({"--background", "black", "--until", "2", "--frame", frames}).first;
  CHECK(framed.other_than(kBlack) > plain.other_than(kBlack) + 1000);
  for (const char* threads : {"1", "3"}) {
    CHECK(render({"--background", "black", "--until", "2", "--frame", frames, "--threads", threads})
              .first.colours == framed.colours);
  }
  const auto [pixels, report] = render({truth, "--color", "speed", "--title", "a", "--title", "b"});
  CHECK(pixels.width == 400);
  CHECK(report["panels"].size() == 2);
  CHECK(report["panels"][1]["title"] == "b");
  CHECK(report["panels"][0]["points_drawn"] == 144);
  CHECK(report["range"][0] <= report["range"][1]);
  CHECK(run_motes({"render", truth, "-o", out.string(), "--frame", frames, "--until", "99"}).code == 2);
}

TEST_CASE("a frame has the voxel size of the run that made the tracks") {
  MOTES_NEED_DISPLAY();
  const TempDir dir;
  const auto simulated = testing::simulate_small(dir.path(), true);
  const std::string frames = (simulated / "frames" / "frames.ome.tif").string(),
                    tracks = (dir / "run" / "tracks.h5").string(), out = (dir / "picture.png").string();
  const auto far_x = [&](const std::string& file) {
    const auto outcome =
        run_motes({"render", file, "-o", out, "--size", "400x300", "--json", "-", "--frame", frames});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out)["box_zyx"][1][2].get<double>();
  };
  REQUIRE(run_motes({"track", frames, "-o", (dir / "run").string(), "--voxel", "2,1,1", "--quiet", "--set",
                     "output.vtk=false", "--set", "output.preview=false"})
              .code == 0);
  CHECK(far_x(tracks) == Approx(10 * far_x((simulated / "truth.h5").string())).epsilon(0.1));
}
