#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>
#include <motes/io/track_files.h>

#include "io/hdf5/h5.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

TEST_CASE("every track format is written by extension and read by content") {
  const TempDir dir;
  const TrackSet tracks = sample_tracks();
  for (const io::TrackFormat& format : io::track_formats()) {
    INFO(format.name);
    if (format.extension == ".ctc" || !format.writes) continue;  // positions of .ctc are whole voxels
    const auto written = dir / ("t" + format.extension);
    io::write_tracks(written, tracks);
    const auto anonymous = dir / "nameless";
    std::filesystem::copy(written, anonymous, std::filesystem::copy_options::recursive);
    const TrackSet back = io::read_tracks(anonymous);
    std::filesystem::remove_all(anonymous);
    if (format.extension == ".trackmate.xml" || format.extension == ".geff")
      continue;  // a mother that ends late
    require_same_paths(tracks, back);
    if (format.extension != ".xml" && format.extension != ".napari.csv") require_same_tracks(tracks, back);
  }
}

TEST_CASE("tracks pass through a chain of formats unchanged") {
  const TempDir dir;
  const TrackSet tracks = sample_tracks();
  io::write_tracks(dir / "a.h5", tracks);
  io::write_tracks(dir / "b.CSV", io::read_tracks(dir / "a.h5"));
  io::write_tracks(dir / "c.vtp", io::read_tracks(dir / "b.CSV"));
  io::write_tracks(dir / "d.vtkhdf", io::read_tracks(dir / "c.vtp"));
  io::write_tracks(dir / "e.h5", io::read_tracks(dir / "d.vtkhdf"));
  require_same_tracks(tracks, io::read_tracks(dir / "e.h5"));
}

TEST_CASE("unknown formats are refused, naming the known ones") {
  const TempDir dir;
  CHECK_THAT(error_of<UsageError>([&] { io::write_tracks(dir / "t.doc", sample_tracks()); }),
             Contains("'.doc'") && Contains(".h5") && Contains(".vtp"));
  CHECK_THAT(error_of<UsageError>([&] { io::write_tracks(dir / "t.mdf", sample_tracks()); }),
             Contains("only read") && Contains(".trackmate.xml"));
  CHECK(files_in(dir.path()) == 0);
  const auto refusal = [&](std::string_view bytes) {
    spill(dir / "t", bytes);
    return error_of<InputError>([&] { io::read_tracks(dir / "t"); });
  };
  CHECK_THAT(refusal(""), Contains("empty") && Contains("CSV"));
  CHECK_THAT(refusal("<TrackMateX/>"), Contains("XML") && Contains("challenge XML"));
  CHECK_THAT(refusal("<TrackMate/>"), Contains("AllSpots"));
  CHECK_THAT(refusal("<?xml version=\"1.0\"?><VTKFile type=\"ImageData\"/>"), Contains("PolyData"));
  CHECK_THAT(refusal(std::string("\x80\0\1\2\3\4", 6)), Contains("binary"));
  CHECK_THAT(refusal(std::string("II*\0\1\2\3\4", 8)), Contains("an image") && Contains("motes track"));
  CHECK_THAT(refusal("\x89HDF\r\n\x1a\n"), Contains("HDF5"));
  CHECK_THAT(refusal("\x1f\x8b\x08\x00"), Contains("empty"));
  CHECK_THAT(refusal("hello\n"), Contains("t:1"));
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks(dir / "absent"); }), Contains("no such file"));
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks(dir.path()); }), Contains("folder"));
}

TEST_CASE("HDF5 files of other programs are told what to do") {
  const TempDir dir;
  for (const char* name : {"/tracks", "/objects", "/df"}) {
    io::detail::h5::Writer other(dir / "other.h5", "other.h5");
    other.group(name);
    other.close();
    CHECK_THAT(error_of<InputError>([&] { io::read_tracks(dir / "other.h5"); }),
               Contains("of another program") && Contains("from_dataframe"));
    CHECK_THAT(error_of<InputError>([&] { io::open_frames(dir / "other.h5", {}); }),
               Contains("of another program") && Contains("motes.link"));
  }
  io::detail::h5::Writer own(dir / "own.h5", "own.h5");
  own.attribute("motes_version", std::string("1"));
  own.group("/tracks");
  own.close();
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks(dir / "own.h5"); }), Contains("restore the file"));
}

TEST_CASE("foreign files of real tools are refused, not misread") {
  MOTES_NEED_DATA(formats, "formats");
  for (const char* name : {"bdv/FakeTracksBDV.xml", "bdv/FakeTracksBDV.h5"}) {
    INFO(name);
    CHECK_THROWS_AS(io::read_tracks(formats / name), InputError);
  }
}
