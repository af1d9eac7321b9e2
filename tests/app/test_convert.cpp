#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/app/run_motes.h"
#include "tests/support/skip.h"

using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// tracks.h5 of a small simulated run.
std::filesystem::path tracked(const TempDir& dir) {
  const auto made = simulate_small(dir.path(), false);
  const Outcome outcome =
      run_motes({"track", (made / "detections.csv").string(), "-o", (dir / "run").string(), "--quiet",
                 "--set", "output.vtk=false", "--set", "output.preview=false"});
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return dir / "run" / "tracks.h5";
}

}  // namespace

TEST_CASE("convert: h5 to h5 loses nothing") {
  const TempDir dir;
  const auto h5 = tracked(dir);
  const Outcome outcome = run_motes({"convert", h5.string(), (dir / "copy.h5").string()});
  CHECK(outcome.code == 0);
  CHECK(outcome.err == "");
  CHECK(file_bytes(h5) == file_bytes(dir / "copy.h5"));
  for (const char* option : {"-o", "--output"})  // as in the other commands
    CHECK(run_motes({"convert", h5.string(), option, (dir / (std::string(option) + ".csv")).string()}).code ==
          0);
  CHECK(file_bytes(dir / "-o.csv") == file_bytes(dir / "--output.csv"));
  const Outcome unknown = run_motes({"convert", h5.string(), "-x", "y.csv"});
  CHECK_THAT(unknown.err, Contains("see motes convert --help") && !Contains("did you mean"));
}

TEST_CASE("convert says what to do about files of Python and spreadsheets") {
  const TempDir dir;
  const auto h5 = tracked(dir).string();
  const Outcome written = run_motes({"convert", h5, (dir / "a.parquet").string()});
  CHECK(written.code == 2);
  CHECK_THAT(written.err, Contains("motes.read(tracks).to_parquet(\"a.parquet\")"));
  write_file(dir / "b.xlsx", std::string("PK\x03\x04\0\0", 6));
  const Outcome read = run_motes({"convert", (dir / "b.xlsx").string(), (dir / "b.csv").string()});
  CHECK(read.code == 3);
  CHECK_THAT(read.err, Contains("does not read .xlsx files; save the sheet as CSV"));
}

TEST_CASE("convert says in one line what a format does not keep") {
  const TempDir dir;
  const auto h5 = tracked(dir).string();
  const auto lost = [&](const std::string& name) {
    const Outcome outcome = run_motes({"convert", h5, (dir / name).string()});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return outcome.err;
  };
  CHECK_THAT(lost("a.csv"), Contains("not kept by this format: indices of detections"));
  CHECK_THAT(lost("a.xml"), Contains("track numbers, times, the unit um, indices of detections"));
  CHECK_THAT(lost("a.napari.csv"), Contains("times, the unit um"));
  CHECK_THAT(lost("a.trackmate.xml"), Contains("not kept by this format: indices of detections"));
  CHECK_THAT(lost("a.geff"), Contains("not kept by this format: indices of detections"));
  const Outcome json = run_motes({"convert", h5, (dir / "b.xml").string(), "--json", "-"});
  CHECK(nlohmann::json::parse(json.out)["lost"].size() >= 4);
}

TEST_CASE("convert keeps everything that both formats have") {
  const TempDir dir;
  const auto h5 = tracked(dir).string();
  const auto csv = [&](const std::string& from, const std::string& to) {
    const Outcome outcome = run_motes({"convert", from, (dir / to).string(), "--quiet"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return (dir / to).string();
  };
  const std::string wanted = file_bytes(csv(h5, "a.csv"));
  CHECK(file_bytes(csv(csv(h5, "a.geff"), "geff.csv")) == wanted);
  CHECK(file_bytes(csv(csv(csv(h5, "b.geff"), "c.h5"), "c.csv")) == wanted);
}

TEST_CASE("convert --like: TrackMate's image, and masks of its shape") {
  const TempDir dir;
  const auto made = simulate_small(dir.path(), true);
  const std::string movie = (made / "frames" / "frames.ome.tif").string(),
                    truth = (made / "truth.h5").string();
  const Outcome trackmate =
      run_motes({"convert", truth, (dir / "t.trackmate.xml").string(), "--like", movie});
  INFO(trackmate.err);
  REQUIRE(trackmate.code == 0);
  const std::string xml = file_bytes(dir / "t.trackmate.xml");
  CHECK_THAT(xml, Contains("filename=\"frames.ome.tif\"") && Contains("pixelwidth=\"0.1\"") &&
                      Contains("voxeldepth=\"0.2\"") && Contains("nframes=\"6\""));
  const Outcome ctc = run_motes(
      {"convert", truth, (dir / "t.ctc").string(), "--like", movie, "--set", "detection.radius_um=0.3"});
  INFO(ctc.err);
  REQUIRE(ctc.code == 0);
  const Outcome info = run_motes({"info", (dir / "t.ctc" / "mask000.tif").string(), "--json", "-"});
  const Outcome like = run_motes({"info", movie, "--json", "-"});
  CHECK(nlohmann::json::parse(info.out)["input"]["shape_zyx"] ==
        nlohmann::json::parse(like.out)["input"]["shape_zyx"]);
  const Outcome back = run_motes({"score", "--truth", truth, "--tracks", (dir / "t.ctc").string(), "--set",
                                  "input.voxel_um=[0.2, 0.1, 0.1]", "--gate", "0.3", "--json", "-"});
  INFO(back.err);
  REQUIRE(back.code == 0);
  CHECK(nlohmann::json::parse(back.out)["jsc"].get<double>() > 0.95);
}

TEST_CASE("convert --like: tracks in px and without times take both from the images") {
  const TempDir dir;
  const auto made = simulate_small(dir.path(), true);
  const std::string movie = (made / "frames" / "frames.ome.tif").string(),
                    truth = (made / "truth.h5").string(), masks = (dir / "t.ctc").string();
  REQUIRE(run_motes({"convert", truth, masks, "--like", movie, "--set", "detection.radius_um=0.3"}).code ==
          0);
  const Outcome back = run_motes({"convert", masks, (dir / "back.h5").string(), "--like", movie});
  INFO(back.err);
  REQUIRE(back.code == 0);
  CHECK_THAT(back.err,
             Contains("by the images' voxels of [0.2, 0.1, 0.1] um") && Contains("frame interval: "));
  const Outcome info = run_motes({"info", (dir / "back.h5").string()});
  CHECK_THAT(info.out, Contains("length unit:    um") && !Contains("frame interval: unknown"));
  const Outcome score = run_motes(
      {"score", "--truth", truth, "--tracks", (dir / "back.h5").string(), "--gate", "0.3", "--json", "-"});
  INFO(score.err);
  REQUIRE(score.code == 0);
  CHECK(nlohmann::json::parse(score.out)["jsc"].get<double>() > 0.95);

  // The scale of the tracks and the user's options take precedence.
  const Outcome given = run_motes(
      {"convert", masks, (dir / "given.csv").string(), "--like", movie, "--voxel", "1", "--dt", "7"});
  CHECK_THAT(given.err, !Contains("by the images' voxels"));
  const Outcome copy = run_motes({"convert", truth, (dir / "copy.h5").string(), "--like", movie});
  CHECK(copy.err == "");
  CHECK(file_bytes(truth) == file_bytes(dir / "copy.h5"));
}

TEST_CASE("convert --like: images that were tracked have the voxel size that the run was given") {
  const TempDir dir;
  const auto made = simulate_small(dir.path(), true);
  const std::string movie = (made / "frames" / "frames.ome.tif").string(), run = (dir / "run").string(),
                    masks = (dir / "t.ctc").string();
  REQUIRE(run_motes({"track", movie, "-o", run, "--voxel", "0.4,0.2,0.2", "--quiet", "--set",
                     "output.vtk=false", "--set", "output.preview=false"})
              .code == 0);
  const auto voxel_of_masks = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"convert", run, masks};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_motes(words);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const Outcome info = run_motes({"info", masks + "/mask000.tif", "--json", "-"});
    return std::pair{nlohmann::json::parse(info.out)["input"]["voxel_um_zyx"][0].get<double>(), outcome.err};
  };
  const auto [voxel, said] = voxel_of_masks({"--like", movie});
  CHECK(voxel == Approx(0.4));
  CHECK_THAT(said, Contains("[0.4, 0.2, 0.2] um [z, y, x]") && Contains("metadata give [0.2, 0.1, 0.1] um"));
  CHECK(voxel_of_masks({"--like", movie, "--voxel", "0.8,0.4,0.4"}).first == Approx(0.8));
  // Other images keep their own voxel size.
  const std::string other = (dir / "other.ome.tif").string();
  std::filesystem::copy_file(movie, other);
  CHECK(run_motes({"convert", run, masks, "--like", other}).code == 2);  // the points are outside of them
}

TEST_CASE("output.csv_names: trackpy adds x, y, z beside x_um, y_um, z_um") {
  const TempDir dir;
  const auto h5 = tracked(dir).string();
  REQUIRE(
      run_motes({"track", h5, "-o", (dir / "plain").string(), "--quiet", "--set", "output.csv_names=trackpy"})
          .code == 0);
  const std::string text = file_bytes(dir / "plain" / "tracks.csv");
  CHECK_THAT(text, Catch::Matchers::StartsWith("particle,frame,t_s,x_um,y_um,z_um,x,y,z"));
  const std::string row =
      text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n') - 1);
  std::vector<std::string> fields;
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1)
    fields.push_back(row.substr(at, (end = row.find(',', at)) - at));
  CHECK(std::vector<std::string>(fields.begin() + 3, fields.begin() + 6) ==
        std::vector<std::string>(fields.begin() + 6, fields.begin() + 9));
}

TEST_CASE("track reads GEFF, TrackMate XML and tables with named columns") {
  const TempDir dir;
  const auto h5 = tracked(dir).string();
  const auto points = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "track");
    arguments.insert(arguments.end(),
                     {"-o", (dir / "again").string(), "--force", "--json", "-", "--set", "output.vtk=false"});
    const Outcome outcome = run_motes(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return nlohmann::json::parse(outcome.out)["tracks"]["points"].get<int>();
  };
  const int wanted = points({h5});
  for (const char* name : {"t.geff", "t.trackmate.xml"}) {
    REQUIRE(run_motes({"convert", h5, (dir / name).string(), "--quiet"}).code == 0);
    CHECK(points({(dir / name).string()}) == wanted);
  }
  write_file(dir / "odd.csv", "when;px;py;pz\n0;1,5;2;3\n1;1,6;2;3\n2;1,7;2;3\n");
  CHECK(points({(dir / "odd.csv").string(), "--columns", "frame=when,x=px,y=py,z=pz", "--set",
                "input.unit=um"}) == 3);
  const Outcome asked = run_motes({"track", (dir / "odd.csv").string(), "-o", (dir / "x").string()});
  CHECK(asked.code == 3);
  CHECK(is_one_error_line(asked.err));
  CHECK_THAT(asked.err, Contains("--columns frame=NAME"));
}

TEST_CASE("Tracks in px, with radii, are scaled to um by --voxel or input.unit, and --dt is applied") {
  const TempDir dir;
  const std::string table = (dir / "t.csv").string();
  write_file(table, "frame,x,y,z,radius_px\n0,1,2,3,4\n1,1,2,3,4\n2,1,2,3,4\n");
  REQUIRE(run_motes({"track", table, "-o", (dir / "run").string(), "--set", "input.unit=px", "--gate", "1"})
              .code == 0);
  const std::string h5 = (dir / "run" / "tracks.h5").string();
  CHECK_THAT(file_bytes(dir / "run" / "tracks.csv"), Contains("particle,frame,x,y,z,radius_px"));
  const auto converted = [&](const std::string& from, const std::vector<std::string>& options) {
    std::vector<std::string> words{"convert", from, (dir / "out.csv").string(), "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run_motes(words);
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return file_bytes(dir / "out.csv");
  };
  CHECK_THAT(converted(h5, {"--voxel", "0.5,0.25,0.25", "--dt", "3"}),
             Contains("t_s,x_um,y_um,z_um,radius_um") && Contains("0,2,6,0.25,0.5,1.5,1"));
  CHECK_THAT(converted(h5, {"--set", "input.unit=nm"}), Contains("0,0,0.001,0.002,0.003,0.004"));
  REQUIRE(run_motes({"convert", h5, (dir / "c.xml").string(), "--quiet"}).code == 0);
  CHECK_THAT(converted((dir / "c.xml").string(), {"--set", "input.unit=um"}), Contains("x_um"));
  CHECK_THAT(converted((dir / "c.xml").string(), {}), Contains("particle,frame,x,y,z"));

  const Outcome timed = run_motes({"convert", h5, (dir / "timed.h5").string(), "--dt", "3"});
  CHECK_THAT(timed.err, Contains("only the tracks are written"));
  CHECK_THAT(run_motes({"info", (dir / "timed.h5").string()}).out, Contains("frame interval: 3 s"));
}

TEST_CASE("convert to masks says that gaps are cut and positions are rounded") {
  const TempDir dir;
  const std::string gap = (dir / "gap.csv").string(), whole = (dir / "whole.csv").string();
  write_file(gap, "particle,frame,x,y,z\n0,0,2.3,2,1\n0,2,2.4,2,1\n");
  write_file(whole, "particle,frame,x,y,z\n0,0,2.3,2,1\n0,1,2.4,2,1\n");
  const auto lost = [&](const std::string& from, const std::string& to) {
    const Outcome outcome = run_motes(
        {"convert", from, (dir / to).string(), "--set", "input.unit=px", "--set", "detection.radius_um=1"});
    INFO(outcome.err);
    CHECK(outcome.code == 0);
    return outcome.err;
  };
  CHECK_THAT(lost(gap, "gap.ctc"), Contains("gaps (tracks are cut there) and positions within a voxel"));
  CHECK_THAT(lost(whole, "whole.ctc"), !Contains("gaps") && Contains("positions within a voxel"));
  CHECK_THAT(lost(gap, "gap.xml"), !Contains("gaps") && !Contains("positions"));
}

TEST_CASE("TrackMate XML keeps properties under their own names") {
  const TempDir dir;
  const std::string table = (dir / "t.csv").string(), xml = (dir / "t.trackmate.xml").string();
  write_file(table,
             "particle,frame,x_um,y_um,z_um,Mean Ch1,1st,Mean_Ch1\n0,0,1,1,1,5,6,7\n0,1,1,1,1,5,6,7\n");
  REQUIRE(run_motes({"convert", table, xml}).code == 0);
  REQUIRE(run_motes({"convert", xml, (dir / "back.csv").string()}).code == 0);
  const std::string back = file_bytes(dir / "back.csv");
  CHECK_THAT(back, Contains("Mean Ch1,1st,Mean_Ch1"));
}
