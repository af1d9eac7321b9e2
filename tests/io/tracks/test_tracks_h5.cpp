#include <catch2/catch.hpp>

#include <motes/io/tracks_h5.h>

#include "io/hdf5/h5.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<Detections> sample_frames() {
  std::vector<Detections> frames(3);
  for (int i = 0; i < 3; ++i) {
    frames[static_cast<std::size_t>(i)].frame = i + 4;
    frames[static_cast<std::size_t>(i)].time_s = 0.5 * i;
  }
  Detections& full = frames[2];
  full.x_um = {1, 2};
  full.y_um = {3, 4};
  full.z_um = {5, 6};
  full.radius_um = full.intensity = full.quality = {0.5, std::nan("")};
  full.properties = {{"diameter", {9, 8}}};
  return frames;
}

}  // namespace

TEST_CASE("tracks.h5 keeps a set of tracks to the bit") {
  const TempDir dir;
  TrackSet tracks = sample_tracks(GENERATE(std::optional<double>(0.1), std::optional<double>()));
  tracks.length_unit = GENERATE("um", "px");
  if (tracks.length_unit == "px") tracks.parent.clear(), tracks.merged_into.clear();
  io::write_tracks_h5(dir / "tracks.h5", tracks);
  const TrackSet back = io::read_tracks_h5(dir / "tracks.h5");
  require_same_tracks(tracks, back);
  CHECK(back.detection == tracks.detection);
  require_same_columns(tracks.track_properties, back.track_properties);
  CHECK(io::is_tracks_h5(dir / "tracks.h5"));
}

TEST_CASE("tracks.h5 keeps empty sets, empty tracks and odd property names") {
  const TempDir dir;
  TrackSet tracks;
  io::write_tracks_h5(dir / "empty.h5", tracks);
  CHECK(io::read_tracks_h5(dir / "empty.h5").tracks() == 0);
  add_track(tracks, 5, {});
  add_track(tracks, 6, {1});
  tracks.point_properties = {{"z", {1}}, {"a/b%2F", {2}}, {"..", {3}}, {"", {4}}, {"%", {5}}};
  io::write_tracks_h5(dir / "odd.h5", tracks);
  require_same_tracks(tracks, io::read_tracks_h5(dir / "odd.h5"));
}

TEST_CASE("tracks.h5 has reproducible bytes") {
  const TempDir dir;
  const PooledDetections detections = pool_detections(sample_frames());
  const io::TracksH5Extras extras{&detections, {0.1, 0.2, 0.3}, "source", std::string(100'000, 'c')};
  io::write_tracks_h5(dir / "a.h5", sample_tracks(), extras);
  sleep(1);  // a timestamp would differ
  io::write_tracks_h5(dir / "b.h5", sample_tracks(), extras);
  CHECK(slurp(dir / "a.h5") == slurp(dir / "b.h5"));
}

TEST_CASE("tracks.h5 records the detections and the settings of the run") {
  const TempDir dir;
  const PooledDetections detections = pool_detections(sample_frames());
  io::write_tracks_h5(dir / "t.h5", sample_tracks(), {&detections, {1, 2, 3}, "a.tif", "input: {}\n"});
  const io::detail::h5::Reader file(dir / "t.h5");
  CHECK(file.text_attribute("source") == "a.tif");
  CHECK(file.text_attribute("configuration") == "input: {}\n");
  CHECK(file.text_attribute("units") == "um");
  CHECK(file.number_attribute("dt_s") == 0.1);
  CHECK(file.int64s("/detections/frame_offsets") == std::vector<std::int64_t>{0, 0, 0, 2});
  CHECK(file.int32s("/detections/frame") == std::vector<std::int32_t>{4, 5, 6});
  CHECK(file.doubles("/detections/x_um") == std::vector<double>{1, 2});
  CHECK(file.doubles("/detections/properties/diameter") == std::vector<double>{9, 8});
  CHECK_FALSE(file.number_attribute("nothing"));
}

TEST_CASE("tracks.h5 files that contradict themselves are rejected") {
  const TempDir dir;
  const auto refusal = [&](const TrackSet& tracks) {
    io::write_tracks_h5(dir / "bad.h5", tracks);
    return error_of<InputError>([&] { io::read_tracks_h5(dir / "bad.h5"); });
  };
  TrackSet tracks = sample_tracks();
  tracks.track_offsets[1] = 6, tracks.track_offsets[2] = 5;
  CHECK_THAT(refusal(tracks), Contains("track_offsets"));
  tracks = sample_tracks();
  tracks.track_offsets.pop_back();
  CHECK_THAT(refusal(tracks), Contains("track_offsets"));
  tracks = sample_tracks();
  tracks.track_offsets.back() = 1'000'000'000'000;
  CHECK_THAT(refusal(tracks), Contains("track_offsets"));
  tracks = sample_tracks();
  tracks.frame[1] = 0;
  CHECK_THAT(refusal(tracks), Contains("frames of track 7"));
  tracks = sample_tracks();
  tracks.z_um.pop_back();
  CHECK_THAT(refusal(tracks), Contains("differ in length"));
  tracks = sample_tracks();
  tracks.x_um[2] = std::nan("");
  CHECK_THAT(refusal(tracks), Contains("not finite"));
  tracks = sample_tracks();
  tracks.track_id[1] = 7;
  CHECK_THAT(refusal(tracks), Contains("7 twice"));
  tracks = sample_tracks();
  tracks.parent.pop_back();
  CHECK_THAT(refusal(tracks), Contains("parent"));
  tracks = sample_tracks();
  tracks.merged_into.pop_back();
  CHECK_THAT(refusal(tracks), Contains("merged_into"));
  tracks = sample_tracks();
  tracks.point_properties[0].values.pop_back();
  CHECK_THAT(refusal(tracks), Contains("quality"));
  tracks = sample_tracks();
  tracks.length_unit = "mm";
  CHECK_THAT(refusal(tracks), Contains("units"));
}

TEST_CASE("other files than tracks.h5 are rejected") {
  const TempDir dir;
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_h5(dir / "absent.h5"); }), Contains("no such file"));
  spill(dir / "text.h5", "particle,frame,x,y\n");
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_h5(dir / "text.h5"); }), Contains("not an HDF5"));
  CHECK_FALSE(io::is_tracks_h5(dir / "text.h5"));
  CHECK_FALSE(io::is_tracks_h5(dir.path()));
  io::detail::h5::Writer other(dir / "other.h5", "other.h5");
  other.group("/images");
  other.close();
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_h5(dir / "other.h5"); }), Contains("/tracks"));
  CHECK_FALSE(io::is_tracks_h5(dir / "other.h5"));
}

TEST_CASE("tracks.h5 lengths beyond the file's size are refused before allocating") {
  const TempDir dir;
  {
    io::detail::h5::silence();
    const io::detail::h5::Handle file(
        H5Fcreate((dir / "huge.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    const io::detail::h5::Handle group(
        H5Gcreate2(file.id(), "/tracks", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    const hsize_t length = 1ull << 50, chunk = 1024;
    const io::detail::h5::Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(list.id(), 1, &chunk);
    const io::detail::h5::Handle space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const io::detail::h5::Handle data(H5Dcreate2(file.id(), "/tracks/track_offsets", H5T_STD_I64LE,
                                                 space.id(), H5P_DEFAULT, list.id(), H5P_DEFAULT),
                                      H5Dclose);
  }
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_h5(dir / "huge.h5"); }),
             Contains("more than the file"));
}

TEST_CASE("damaged tracks.h5 files never crash the reader") {
  const TempDir dir;
  io::write_tracks_h5(dir / "t.h5", sample_tracks());
  read_damaged_copies(dir / "d.h5", slurp(dir / "t.h5"), 400,
                      [](const auto& path) { io::read_tracks_h5(path); });
}

TEST_CASE("a tracks.h5 that cannot be written leaves no files") {
  const TempDir dir;
  spill(dir / "file", "x");
  CHECK_THROWS_AS(io::write_tracks_h5(dir / "file/tracks.h5", sample_tracks()), ResourceError);
  TrackSet tracks = sample_tracks();
  tracks.point_properties.push_back(
      tracks.point_properties[0]);  // HDF5 rejects a repeated name, in the middle of the work
  CHECK_THROWS_AS(io::write_tracks_h5(dir / "twice.h5", tracks), ResourceError);
  CHECK(files_in(dir.path()) == 1);
}

TEST_CASE("Long columns, encoded in parallel, read back to the same bits") {
  TrackSet tracks;
  const std::size_t points = 5 * 65536 + 123;
  std::uint64_t state = 1;
  const auto noise = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) * 0x1p-53;
  };
  tracks.track_id = {7};
  tracks.track_offsets = {0, static_cast<std::int64_t>(points)};
  for (std::size_t i = 0; i < points; ++i) {
    tracks.frame.push_back(static_cast<std::int32_t>(i));
    tracks.detection.push_back(-1);                         // one value
    tracks.time_s.push_back(static_cast<double>(i) * 0.5);  // deflates
    tracks.x_um.push_back(noise());                         // does not
    tracks.y_um.push_back(i < 200000 ? 0.0 : noise());      // does at first
    tracks.z_um.push_back(static_cast<double>(i % 3));
  }
  const testing::TempDir dir;
  io::write_tracks_h5(dir / "long.h5", tracks);
  const TrackSet back = io::read_tracks_h5(dir / "long.h5");
  CHECK(back.frame == tracks.frame);
  CHECK(back.detection == tracks.detection);
  CHECK(back.time_s == tracks.time_s);
  CHECK(back.x_um == tracks.x_um);
  CHECK(back.y_um == tracks.y_um);
  CHECK(back.z_um == tracks.z_um);
  CHECK(std::filesystem::file_size(dir / "long.h5") < points * 8 * 3);
}

TEST_CASE("long columns of any kind are read back, and repetitive ones are small") {
  const TempDir dir;
  constexpr std::size_t kLength = 5 * 65'536 + 7;  // five chunks, and a part of one
  std::mt19937_64 rng(3);
  std::normal_distribution<> normal;
  std::vector<double> walk(kLength), noise(kLength), times(kLength), constant(kLength, 2.5);
  std::vector<std::int64_t> turns(kLength);
  double place = 12'000;
  for (std::size_t i = 0; i < kLength; ++i) {
    place += 0.001 * std::round(1000 * normal(rng));
    walk[i] = std::round(1000 * place) / 1000;
    noise[i] = normal(rng);
    times[i] = static_cast<double>(i / 3);
    turns[i] = static_cast<std::int64_t>(i % 3);
  }
  io::detail::h5::Writer out(dir / "columns.h5", "columns.h5");
  for (const auto& [name, values] :
       {std::pair{"walk", &walk}, {"noise", &noise}, {"times", &times}, {"constant", &constant}})
    out.dataset(name, *values);
  out.dataset("turns", turns);
  out.close();
  const io::detail::h5::Reader in(dir / "columns.h5");
  CHECK(in.doubles("walk") == walk);
  CHECK(in.doubles("noise") == noise);
  CHECK(in.doubles("times") == times);
  CHECK(in.doubles("constant") == constant);
  CHECK(in.int64s("turns") == turns);
  // The noise is stored as it is, the digits of the walk as two thirds, and the rest as a few percent.
  const auto bytes = static_cast<double>(std::filesystem::file_size(dir / "columns.h5"));
  CHECK(bytes / (8 * kLength) < 1.0 + 0.75 + 3 * 0.03);
}
