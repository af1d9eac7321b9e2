// Small files that claim large sizes, or nest deeply, are rejected before memory or the stack is exhausted.
#include <catch2/catch.hpp>
#include <zlib.h>

#include <motes/io/frame_source.h>
#include <motes/io/problem_files.h>
#include <motes/io/tables.h>
#include <motes/io/vtk_tracks.h>

#include "io/files/temporary_name.h"
#include "io/images/chunked/bdv_xml.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;

TEST_CASE("VTP elements nested thousands deep are refused") {
  if (!io::has_vtk()) MOTES_SKIP("built without VTK");
  const TempDir dir;
  std::string open, close;
  for (int i = 0; i < 30'000; ++i) {
    open += "<a>";
    close += "</a>";
  }
  const std::string head = "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">";
  spill(dir / "inside.vtp", head + "<PolyData>" + open + close + "</PolyData></VTKFile>");
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtp(dir / "inside.vtp"); }), Contains("256 deep"));
  spill(dir / "beside.vtp", head + "<PolyData/>" + open + close + "</VTKFile>");
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtp(dir / "beside.vtp"); }), Contains("256 deep"));
}

TEST_CASE("MatrixMarket sizes that the text cannot fill are rejected") {
  const TempDir dir;
  for (const char* sizes : {"2147483645 1 0", "1 2147483645 0", "1000000000 1000000000 0"}) {
    spill(dir / "a.mtx", std::string("%%MatrixMarket matrix coordinate real general\n") + sizes + "\n");
    CHECK_THAT(error_of<InputError>([&] { io::read_problem(dir / "a.mtx"); }), Contains("a.mtx:2"));
    CHECK_THAT(error_of<InputError>([&] { io::read_graph(dir / "a.mtx"); }), Contains("rows and columns"));
  }
  spill(dir / "b.mtx", "%%MatrixMarket matrix coordinate real general\n1000000 1000000 1\n1 1 1\n");
  CHECK(io::read_graph(dir / "b.mtx").rows == 1000000);
}

TEST_CASE("gzip with an implausible compression ratio is rejected") {
  const TempDir dir;
  const std::string path = (dir / "bomb.mtx.gz").string();
  const gzFile file = gzopen(path.c_str(), "wb1");
  const std::string head = "%%MatrixMarket matrix coordinate real general\n", blanks(1 << 20, ' ');
  gzwrite(file, head.data(), static_cast<unsigned>(head.size()));
  for (int i = 0; i < 200; ++i) gzwrite(file, blanks.data(), static_cast<unsigned>(blanks.size()));
  gzclose(file);
  CHECK_THAT(error_of<InputError>([&] { io::read_problem(path); }), Contains("64 times"));
}

TEST_CASE("BigDataViewer patterns with too many time points are rejected") {
  const TempDir dir;
  std::string pattern = "0-9999999";
  for (int i = 0; i < 1000; ++i) pattern += ", 0-9999999";
  spill(dir / "a.xml",
        "<SpimData><SequenceDescription><ImageLoader format=\"bdv.hdf5\"><hdf5>a.h5</hdf5></ImageLoader>"
        "<Timepoints type=\"pattern\"><integerpattern>" +
            pattern + "</integerpattern></Timepoints></SequenceDescription></SpimData>");
  CHECK_THAT(error_of<InputError>([&] { io::detail::read_bdv_xml(dir / "a.xml"); }), Contains("time points"));
}

TEST_CASE("A far too large frame number is rejected, instead of creating millions of empty frames") {
  const TempDir dir;
  spill(dir / "far.csv", "frame,x_um,y_um,z_um\n0,1,1,1\n9999999,1,1,1\n");
  CHECK_THAT(error_of<InputError>([&] { io::read_points_csv(dir / "far.csv", {}); }),
             Contains("9999999") || Contains("10000000 frames"));
  spill(dir / "sparse.csv", "frame,x_um,y_um,z_um\n0,1,1,1\n100000,1,1,1\n");
  CHECK(io::read_points_csv(dir / "sparse.csv", {}).frames.size() == 100001);
}

TEST_CASE("Temporary files are recognised by their names") {
  const auto read = io::detail::read_temporary_name;
  const std::string name = io::detail::temporary_name("tracks", ".h5");
  CHECK(read(name).stem == "tracks");
  CHECK(!read(name).left);  // this process is running
  CHECK(name != io::detail::temporary_name("tracks", ".h5"));
  CHECK(read(io::detail::temporary_name("frame_1.vtp", "")).stem == "frame_1.vtp");
  CHECK(read(".tracks.tmp-0123456789abcdef.h5").stem == "tracks");  // of an older version, without a process
  CHECK(!read(".tracks.tmp-0123456789abcdef.h5").left);
  CHECK(read(".t.tmp-0123456789abcdef0123456700000001.h5").stem == "t");
  CHECK(!read(".t.tmp-0123456789abcdef0123456700000001.h5").left);  // from another machine
  for (const char* other :
       {"tracks.h5", ".tracks.h5", ".tracks.tmp-12-0.h5", ".tmp-0123456789abcdef", ".a.tmp-0123456789abcdeg"})
    CHECK(read(other).stem.empty());
}
