#include <numeric>
#include <string_view>
#include <utility>

#include <catch2/catch.hpp>

#include <motes/io/atomic_file.h>
#include <motes/io/vtk_tracks.h>
#include <motes/tracking/track_runs.h>

#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

/// A VTK file in text form, as other programs write it.
std::string polydata(const std::string& arrays, const std::string& cells) {
  return "<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" version=\"0.1\" "
         "byte_order=\"LittleEndian\"><PolyData>"
         "<Piece NumberOfPoints=\"3\" NumberOfVerts=\"1\" NumberOfLines=\"1\" NumberOfStrips=\"0\" "
         "NumberOfPolys=\"0\">"
         "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">1 2 3 4 5 6 7 8 "
         "9</DataArray>"
         "</Points>" +
         arrays + cells + "</Piece></PolyData></VTKFile>";
}

std::string array(const std::string& name, const std::string& type, const std::string& values) {
  return "<DataArray type=\"" + type + "\" Name=\"" + name + "\" format=\"ascii\">" + values + "</DataArray>";
}

std::string cells(const std::string& vertex, const std::string& line, const std::string& line_end = "2") {
  return "<Verts>" + array("connectivity", "Int64", vertex) + array("offsets", "Int64", "1") +
         "</Verts><Lines>" + array("connectivity", "Int64", line) + array("offsets", "Int64", line_end) +
         "</Lines>";
}

std::string data(const std::string& kind, const std::string& arrays) {
  return "<" + kind + ">" + arrays + "</" + kind + ">";
}

/// A number of 32 bits as in a file of little-endian byte order.
std::string word(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t j = i; j < i + 3; ++j)
      bits = bits << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : kDigits[bits >> (18 - 6 * j) & 63];
  }
  return text;
}

std::string frames(const std::string& values) { return data("PointData", array("frame", "Float64", values)); }
std::string ids(const std::string& values) { return data("CellData", array("track_id", "Int32", values)); }

/// A file of three points of a track, with the field data, and after its end the appended data.
std::string with_field_data(const std::string& fields, const std::string& appended = "",
                            const std::string& compressor = "") {
  std::string text = polydata(frames("0 1 2") + ids("1 1"), cells("0", "2 1"));
  const auto insert = [&](const std::string& before, const std::string& what) {
    text.insert(text.find(before), what);
  };
  insert("<Piece", data("FieldData", fields));
  insert("</VTKFile>", appended);
  insert(" byte_order", compressor);
  return text;
}

}  // namespace

TEST_CASE("tracks.vtp keeps tracks to the bit") {
  const TempDir dir;
  TrackSet tracks = sample_tracks(GENERATE(std::optional<double>(0.1), std::optional<double>()));
  tracks.length_unit = GENERATE("um", "px");
  tracks.point_properties.push_back({"\xC2\xB5 <&> 'a'", std::vector<double>(tracks.points(), 1)});
  if (tracks.length_unit == "px") tracks.parent.clear(), tracks.merged_into.clear();
  io::write_tracks_vtp(dir / "t.vtp", tracks);
  const TrackSet back = io::read_tracks_vtp(dir / "t.vtp");
  require_same_tracks(tracks, back);
  require_same_columns(tracks.track_properties, back.track_properties);
}

TEST_CASE("tracks.vtp states the length of each track, in points and in time") {
  const TempDir dir;
  io::write_tracks_vtp(dir / "t.vtp", sample_tracks());  // frames 0 1 2 5 6, 4, 3 4 5, 0 2; 0.1 s apart
  std::string bytes = slurp(dir / "t.vtp");
  // Under other names the reader treats them as properties.
  for (const auto& [name, other] :
       {std::pair("\"duration\"", "\"how_long\""), {"\"length\"", "\"points\""}}) {
    REQUIRE(bytes.find(name) != std::string::npos);
    bytes.replace(bytes.find(name), std::string_view(other).size(), other);
  }
  spill(dir / "t.vtp", bytes);
  const TrackSet back = io::read_tracks_vtp(dir / "t.vtp");
  const auto values = [&](const std::string& name) {
    for (const PropertyColumn& column : back.track_properties)
      if (column.name == name) return column.values;
    return std::vector<double>();
  };
  CHECK(values("points") == std::vector<double>{5, 1, 3, 2});
  const std::vector<double> duration = values("how_long");
  REQUIRE(duration.size() == 4);
  for (std::size_t t = 0; t < 4; ++t) CHECK(duration[t] == Approx(std::vector{0.6, 0.0, 0.2, 0.2}[t]));
}

TEST_CASE("tracks.vtp allows names that clash or that XML does not allow") {
  const TempDir dir;
  TrackSet tracks;
  add_track(tracks, 1, {0, 1});
  tracks.point_properties = {{"speed", {1, 2}}, {"a\nb", {3, 4}}, {"\xB5m", {5, 6}}};
  io::write_tracks_vtp(dir / "t.vtp", tracks);
  const TrackSet back = io::read_tracks_vtp(dir / "t.vtp");
  REQUIRE(back.point_properties.size() == 3);
  CHECK(back.point_properties[0].name == "speed_");
  CHECK(back.point_properties[1].name == "a_b");
  CHECK(back.point_properties[2].name == "%B5m");
}

TEST_CASE("tracks.vtp of no tracks and of single points") {
  const TempDir dir;
  io::write_tracks_vtp(dir / "none.vtp", {});
  CHECK(io::read_tracks_vtp(dir / "none.vtp").tracks() == 0);
  TrackSet tracks;
  add_track(tracks, 4, {3});
  io::write_tracks_vtp(dir / "one.vtp", tracks);
  require_same_tracks(tracks, io::read_tracks_vtp(dir / "one.vtp"));
}

TEST_CASE("VTK outputs have reproducible bytes") {
  const TempDir dir;
  io::write_tracks_vtp(dir / "a.vtp", sample_tracks());
  io::write_tracks_vtp(dir / "b.vtp", sample_tracks());
  CHECK(slurp(dir / "a.vtp") == slurp(dir / "b.vtp"));
}

TEST_CASE("runs end where frames are missing") {
  const TrackSet tracks = sample_tracks();  // frames 0 1 2 5 6, 4, 3 4 5, 0 2
  const auto runs = cut_runs(tracks, 1);
  std::vector<std::size_t> sizes;
  for (const auto& run : runs) sizes.push_back(run.size());
  CHECK(sizes == std::vector<std::size_t>{3, 2, 1, 3, 1, 1});
  CHECK(cut_runs(tracks, 2).size() == 5);
  CHECK(cut_runs(tracks, 3).size() == 4);
  CHECK(cut_runs({}, 1).empty());
}

TEST_CASE("speed is the path to both neighbours divided by its time") {
  TrackSet tracks;
  tracks.dt_s = 0.5;
  tracks.track_id = {1};
  tracks.track_offsets = {0, 4};
  tracks.frame = {0, 1, 2, 9};
  tracks.x_um = {0, 3, 3, 100};
  tracks.y_um = {0, 4, 4, 100};
  tracks.z_um = {0, 0, 1, 100};
  const auto speeds = point_speeds(tracks, cut_runs(tracks, 1));
  CHECK(speeds[0] == Approx(10));
  CHECK(speeds[1] == Approx(6));
  CHECK(speeds[2] == Approx(2));
  CHECK(std::isnan(speeds[3]));
}

TEST_CASE("foreign PolyData with track_id and frame is read") {
  const TempDir dir;
  spill(dir / "f.vtp", polydata(frames("5 2 1") + ids("8 8"), cells("0", "2 1")));
  const TrackSet tracks = io::read_tracks_vtp(dir / "f.vtp");
  CHECK(tracks.track_id == std::vector<std::int64_t>{8});
  CHECK(tracks.frame == std::vector<std::int32_t>{1, 2, 5});
  CHECK(tracks.x_um == std::vector<double>{7, 4, 1});
  CHECK(tracks.length_unit == "px");
  spill(dir / "p.vtp",
        polydata(data("PointData", array("frame", "Int32", "0 1 2") + array("track_id", "Int32", "1 1 2") +
                                       array("mass", "Float32", "1 2 3")),
                 cells("0", "2 1")));
  const TrackSet by_points = io::read_tracks_vtp(dir / "p.vtp");
  CHECK(by_points.track_offsets == std::vector<std::int64_t>{0, 2, 3});
  CHECK(by_points.point_properties.at(0).name == "mass");
}

TEST_CASE("PolyData without tracks, or with invalid ones, is rejected") {
  const TempDir dir;
  const auto refusal = [&](const std::string& text) {
    spill(dir / "bad.vtp", text);
    StderrCapture capture;
    std::string message = error_of<InputError>([&] { io::read_tracks_vtp(dir / "bad.vtp"); });
    CHECK(capture.stop() == "");
    return message;
  };
  CHECK_THAT(refusal(polydata(frames("0 1 2"), cells("0", "2 1"))), Contains("no track_id"));
  CHECK_THAT(refusal(polydata(ids("1 1"), cells("0", "2 1"))), Contains("named frame"));
  CHECK_THAT(refusal(polydata(frames("0 1.5 2") + ids("1 1"), cells("0", "2 1"))), Contains("whole number"));
  CHECK_THAT(refusal(polydata(frames("0 -1 2") + ids("1 1"), cells("0", "2 1"))),
             Contains("frame of point 1"));
  CHECK_THAT(refusal(polydata(frames("0 1 1") + ids("1 1"), cells("0", "2 1"))),
             Contains("second point in frame 1"));
  CHECK_THAT(refusal(polydata(frames("0 1 2") + ids("1 2"), cells("1", "2 1"))), Contains("two tracks"));
  CHECK_THAT(refusal(polydata(frames("0 1 2") + ids("1 1"), cells("0", "2 3"))), Contains("does not exist"));
  CHECK_THAT(refusal(polydata(frames("0 1 2") + ids("1 1"), cells("0", "2 -1"))), Contains("does not exist"));
  CHECK_THAT(refusal("<?xml version=\"1.0\"?><VTKFile type=\"PolyData\" "
                     "byte_order=\"LittleEndian\"><PolyData><Piece NumberOfPoints=\"99999999999\"/>"
                     "</PolyData></VTKFile>"),
             Contains("more than the file"));
  CHECK_THAT(refusal("<VTKFile"), Contains("damaged"));
  CHECK_THAT(refusal(""), Contains("damaged"));
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtp(dir / "absent.vtp"); }),
             Contains("no such file"));
}

TEST_CASE("String arrays of a VTK file are read up to their length") {
  const TempDir dir;
  const std::string start = "<Array type=\"String\" Name=\"length_unit\" NumberOfTuples=\"1\" ";
  /// The unit read from each form of an array with these bytes: text, binary, appended, and LZ4 without
  /// matches.
  const auto units = [&](const std::string& bytes) {
    std::string codes, lz4;
    for (const char c : bytes) codes += std::to_string(c) + ' ';
    std::size_t more = bytes.size() - 15;
    for (; more >= 255; more -= 255) lz4 += '\xff';
    lz4 = '\xf0' + lz4 + static_cast<char>(more) + bytes;
    const auto length = static_cast<std::uint32_t>(bytes.size());
    const std::string plain = word(length) + bytes;
    const std::string packed =
        word(1) + word(length) + word(0) + word(static_cast<std::uint32_t>(lz4.size()));
    const auto appended = [](const std::string& kind, const std::string& text) {
      return "<AppendedData encoding=\"" + kind + "\" other=\"raw\">_" + text + "</AppendedData>";
    };
    const std::string in_appended = start + "format=\"appended\" offset=\"0\"/>";
    const std::string lz4_files = " compressor=\"vtkLZ4DataCompressor\"";
    std::vector<std::string> found;
    for (const std::string& file :
         {with_field_data(start + "format=\"ascii\">" + codes + "</Array>"),
          with_field_data(start + "format=\"binary\">" + base64(plain) + "</Array>"),
          with_field_data(in_appended, appended("raw", plain)),
          with_field_data(in_appended, appended("base64", base64(plain))),
          with_field_data(in_appended, appended("raw", packed + lz4), lz4_files),
          with_field_data(start + "format=\"binary\">" + base64(packed) + base64(lz4) + "</Array>", "",
                          lz4_files)}) {
      spill(dir / "t.vtp", file);
      try {
        found.push_back(io::read_tracks_vtp(dir / "t.vtp").length_unit);
      } catch (const InputError& error) {
        found.push_back(error.what());
      }
    }
    return found;
  };
  const auto repeated = [](const std::string& text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const std::string um("um\0", 3);
  for (const std::string& unit : units(um + repeated("a", 5000))) CHECK(unit == "um");
  for (const std::string& unit : units(repeated(um, 100'000))) CHECK(unit == "um");
  for (const std::string& unit : units(repeated("a", 3000) + '\0')) CHECK(unit == "px");
  for (const std::size_t length : {100, 1024, 2048, 3000})
    for (const std::string& unit : units(repeated("a", length)))
      CHECK_THAT(unit, Contains("the array length_unit does not have"));
}

TEST_CASE("String arrays of points and cells are read, and ignored") {
  const TempDir dir;
  const auto names = [&](const std::string& kind, const std::string& codes) {
    const std::string group = data(
        kind,
        "<Array type=\"String\" Name=\"s\" format=\"ascii\">" + codes + "</Array>" +
            (kind == "PointData" ? array("frame", "Float64", "5 2 1") : array("track_id", "Int32", "8 8")));
    spill(dir / "s.vtp",
          polydata(kind == "PointData" ? group + ids("8 8") : frames("5 2 1") + group, cells("0", "2 1")));
    return io::read_tracks_vtp(dir / "s.vtp").points();
  };
  CHECK(names("PointData", "97 0 0 98 99 0") == 3);
  CHECK(names("CellData", "97 0 98 99 0 100 0 0 0 0") == 3);
  CHECK_THROWS_AS(names("PointData", "97 0 0 98 99"), InputError);
  CHECK_THROWS_AS(names("CellData", "97 0"), InputError);
}

TEST_CASE("VTK files that VTK reads otherwise than they are checked are refused") {
  const TempDir dir;
  const auto refusal = [&](const std::string& text) {
    spill(dir / "bad.vtp", text);
    return error_of<InputError>([&] { io::read_tracks_vtp(dir / "bad.vtp"); });
  };
  const std::string good = polydata(frames("5 2 1") + ids("8 8"), cells("0", "2 1"));
  const auto with = [&](const std::string& old, const std::string& replacement) {
    std::string text = good;
    return text.replace(text.find(old), old.size(), replacement);
  };
  // Pieces whose arrays have another type.
  const std::string piece = good.substr(good.find("<Piece"), good.find("</PolyData>") - good.find("<Piece"));
  CHECK_THAT(refusal(with("</PolyData>", piece + "</PolyData>")), Contains("second point in frame"));
  for (const char* type : {"Float32", "String", "Float64\" NumberOfComponents=\"2"}) {
    std::string other = piece;
    other.replace(other.find("Float64"), 7, type);
    CHECK_THAT(refusal(with("</PolyData>", other + "</PolyData>")),
               Contains("the array frame does not have"));
  }
  // Entities, null bytes, and data at an offset that is not checked.
  CHECK_THAT(refusal(with("?>", "?><!DOCTYPE a [<!ENTITY b 'c'>]>")), Contains("document type"));
  CHECK_THAT(refusal(with("?>", std::string("?>\0", 3))), Contains("null bytes"));
  CHECK_THAT(refusal(with("\"frame\"", "\"frame\" offset=\"0\"")), Contains("not appended"));
  CHECK_THAT(refusal(with("</VTKFile>", "<AppendedDataX encoding=\"raw\">_</AppendedDataX></VTKFile>")),
             Contains("last element"));
  // VTK reads inline data from the first '>' on, here one byte of four.
  const auto binary = [&](const std::string& attribute, std::size_t length) {
    return with(
        "Name=\"frame\" format=\"ascii\">5 2 1",
        "Name=\"frame\" " + attribute + "format=\"binary\">" + base64(word(24) + std::string(length, '\0')));
  };
  CHECK_THAT(refusal(binary("", 24)), Contains("second point in frame 0"));
  CHECK_THAT(refusal(binary("a=\">AA\" ", 24)), Contains("the array frame is truncated"));
  CHECK_THAT(refusal(binary("", 20)), Contains("the array frame is longer"));
  // A compressed block that is longer than the file.
  std::string block = with("format=\"ascii\">5 2 1",
                           "format=\"binary\">" + base64(word(1) + word(24) + word(0) + word(1U << 30)));
  block.insert(block.find(" byte_order"), " compressor=\"vtkLZ4DataCompressor\"");
  CHECK_THAT(refusal(block), Contains("the array frame is truncated"));
}

TEST_CASE("A VTK file whose cells have more points than memory has bytes is refused") {
  const TempDir dir;
  std::string points;
  for (int i = 0; i < 100'000; ++i) points += "1 ";
  spill(dir / "t.vtp",
        polydata(frames("5 2 1") + ids("8 8"), cells("0", points, std::to_string(std::int64_t{1} << 61))));
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtp(dir / "t.vtp"); }),
             Contains("the array connectivity does not have"));
}

TEST_CASE("A VTK file may have empty arrays, but not parts of them") {
  const TempDir dir;
  for (const char* type : {"String", "Float64"}) {
    const std::string start = std::string("<Array type=\"") + type + "\" Name=\"none\" NumberOfTuples=\"0\" ";
    const auto read = [&](const std::string& end, const std::string& compressor = "") {
      spill(dir / "t.vtp", with_field_data(start + end + "</Array>", "", compressor));
      return io::read_tracks_vtp(dir / "t.vtp").points();
    };
    const auto packed = [&](std::uint32_t last) {
      return read("format=\"binary\">" + base64(word(0) + word(0) + word(last)),
                  " compressor=\"vtkLZ4DataCompressor\"");
    };
    CHECK(read("format=\"ascii\">") == 3);
    CHECK(read("format=\"binary\">" + base64(word(0))) == 3);
    CHECK(packed(0) == 3);
    CHECK_THAT(error_of<InputError>([&] { packed(8); }), Contains("impossible block sizes"));
  }
}

TEST_CASE("damaged VTK files never crash the reader") {
  const TempDir dir;
  io::write_tracks_vtp(dir / "t.vtp", sample_tracks());
  read_damaged_copies(dir / "d.vtp", slurp(dir / "t.vtp"), 3000,
                      [](const auto& path) { io::read_tracks_vtp(path); });
  const std::string text = polydata(frames("5 2 1") + ids("8 8"), cells("0", "2 1"));
  read_damaged_copies(dir / "d.vtp", text, 3000, [](const auto& path) { io::read_tracks_vtp(path); });
}

TEST_CASE("a VTK file that crashes VTK's reader is refused") {
  const TempDir dir;
  io::write_tracks_vtp(dir / "t.vtp", sample_tracks());
  std::string bytes = slurp(dir / "t.vtp");
  const std::string name = "Name=\"length\"";  // two arrays with the same name
  const std::size_t at = bytes.find(name);
  REQUIRE(at != std::string::npos);
  bytes.replace(at, name.size(), "Name=\"parent\"");
  spill(dir / "t.vtp", bytes);
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtp(dir / "t.vtp"); }),
             Contains("t.vtp: the process that reads this file crashed"));
}

TEST_CASE("frames.pvd names one file per frame with points, with its time") {
  const TempDir dir;
  spill(dir / "out/keep.txt", "");
  io::write_frames_pvd(dir / "out/frames.pvd", sample_tracks());
  const std::string index = slurp(dir / "out/frames.pvd");
  CHECK_THAT(index, Contains("timestep=\"0.5\" group=\"\" part=\"0\" file=\"frames/frame_000005.vtp\""));
  CHECK(files_in(dir / "out/frames") == 7);
  CHECK(std::filesystem::exists(dir / "out/frames/frame_000000.vtp"));

  // A later run with fewer frames removes only old files of motes.
  spill(dir / "out/frames/frame_a.vtp", "");
  spill(dir / "out/frames/000001.ome.tif", "");
  TrackSet tracks;
  add_track(tracks, 4, {3});
  io::write_frames_pvd(dir / "out/frames.pvd", tracks);
  CHECK(files_in(dir / "out/frames") == 3);
  CHECK_THAT(slurp(dir / "out/frames.pvd"), Contains("timestep=\"3\""));
  io::write_frames_pvd(dir / "out/empty.pvd", {});
  CHECK_THAT(slurp(dir / "out/empty.pvd"), Contains("<Collection>\n  </Collection>"));
}

TEST_CASE("VTK outputs that cannot be written leave no files") {
  const TempDir dir;
  spill(dir / "file", "x");
  CHECK_THROWS_AS(io::write_tracks_vtp(dir / "file/t.vtp", sample_tracks()), ResourceError);
  CHECK_THROWS_AS(io::write_frames_pvd(dir / "file/frames.pvd", sample_tracks()), ResourceError);
  spill(dir / "frames", "a file where the folder should be");
  CHECK_THROWS_AS(io::write_frames_pvd(dir / "frames.pvd", sample_tracks()), ResourceError);
  CHECK(files_in(dir.path()) == 2);
  CHECK_THROWS_AS(io::write_atomically(dir / "t.vtp",
                                       [](const auto& path) {
                                         spill(path, "half");
                                         throw ResourceError("disk full");
                                       }),
                  ResourceError);
  CHECK(files_in(dir.path()) == 2);
}

TEST_CASE("frames.pvd of a long series has fewer files") {
  const TempDir dir;
  TrackSet tracks;
  std::vector<std::int32_t> frames(io::kMostFrameFiles + 1);
  std::iota(frames.begin(), frames.end(), 5);
  add_track(tracks, 1, frames);
  CHECK(io::frame_file_step(tracks) == 2);
  CHECK(io::frame_file_step({}) == 1);
  TrackSet few;
  add_track(few, 1, {5, 6, 1000, 2000, 30000, 30001, 30002});
  add_track(few, 2, {6, 1000, 2000, 30000});
  REQUIRE(io::frame_file_step(few, 3) == 3);
  io::write_frames_pvd(dir / "frames.pvd", few, 1, 3);
  CHECK(files_in(dir / "frames") == 3);
  io::write_frames_pvd(dir / "all.pvd", few);
  CHECK(files_in(dir / "all") == 7);
  for (const char* file : {"frame_000005.vtp", "frame_002000.vtp", "frame_030002.vtp"})
    CHECK(slurp(dir / "frames" / file) == slurp(dir / "all" / file));
}

TEST_CASE("Of very many properties, files of frames have the first ones, and tracks.vtp all") {
  const TempDir dir;
  TrackSet tracks;
  add_track(tracks, 1, {5, 6});
  for (std::size_t i = 0; i < io::kMostFrameProperties + 2; ++i)
    tracks.point_properties.push_back({"p" + std::to_string(i) + "_", {1.0, 2.0}});
  io::write_frames_pvd(dir / "frames.pvd", tracks);
  const std::string frame = slurp(dir / "frames" / "frame_000005.vtp");
  CHECK(frame.find("\"p255_\"") != std::string::npos);
  CHECK(frame.find("\"p256_\"") == std::string::npos);
  io::write_tracks_vtp(dir / "tracks.vtp", tracks);
  CHECK(io::read_tracks_vtp(dir / "tracks.vtp").point_properties.size() == io::kMostFrameProperties + 2);
}
