// HDF5 files that try to read other files, to crash the library or to exhaust memory.
#include <fstream>
#include <new>
#include <optional>
#include <span>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

#include <motes/io/detections_h5.h>
#include <motes/io/frame_source.h>
#include <motes/io/input_policy.h>
#include <motes/io/problem_files.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "io/hdf5/h5.h"
#include "io/hdf5/reader.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::detail::h5::Handle;

namespace {

/// Creates an HDF5 file of the old layout, which has no checksums.
Handle create(const std::filesystem::path& path) {
  io::detail::h5::silence();
  std::filesystem::remove(path);
  return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
}

Handle group(const Handle& file, const char* name) {
  return {H5Gcreate2(file.id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

Handle space_of(std::initializer_list<hsize_t> shape) {
  return {H5Screate_simple(static_cast<int>(shape.size()), shape.begin(), nullptr), H5Sclose};
}

Handle creation_list() { return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose}; }

void dataset(const Handle& file, const char* name, hid_t type, const Handle& space, const Handle& list,
             const void* values = nullptr) {
  const Handle made(H5Dcreate2(file.id(), name, type, space.id(), H5P_DEFAULT, list.id(), H5P_DEFAULT),
                    H5Dclose);
  REQUIRE(made);
  if (values != nullptr) REQUIRE(H5Dwrite(made.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
}

/// Adds everything of a small tracks.h5 except its offsets, which each test damages in its own way.
void add_rest_of_tracks(const Handle& file) {
  const std::int64_t zero = 0;
  const std::int32_t frame = 0;
  const double x = 1;
  for (const char* name : {"/tracks/track_id", "/tracks/detection"})
    dataset(file, name, H5T_STD_I64LE, space_of({1}), creation_list(), &zero);
  dataset(file, "/tracks/frame", H5T_STD_I32LE, space_of({1}), creation_list(), &frame);
  for (const char* name : {"/tracks/time_s", "/tracks/x_um", "/tracks/y_um"})
    dataset(file, name, H5T_IEEE_F64LE, space_of({1}), creation_list(), &x);
}

std::string refusal_of_tracks(const std::filesystem::path& path) {
  return error_of<InputError>([&] { io::read_tracks_h5(path); });
}

void text_attributes(const Handle& file, const char* name, hsize_t count) {
  const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), 2);
  const Handle space = count == 0 ? Handle(H5Screate(H5S_SCALAR), H5Sclose) : space_of({count});
  const Handle made(H5Acreate2(file.id(), name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const std::string values(2 * std::max<hsize_t>(count, 1), 'u');
  REQUIRE(H5Awrite(made.id(), type.id(), values.data()) >= 0);
}

struct Trusted {
  Trusted() { io::set_input_policy({true, false}); }
  ~Trusted() { io::set_input_policy({}); }
};

}  // namespace

TEST_CASE("HDF5 values in another file are rejected with its name") {
  const TempDir dir;
  spill(dir / "secret", std::string(24, 's'));
  const std::string secret = (dir / "secret").string();
  {
    const Handle file = create(dir / "t.h5");
    const Handle tracks = group(file, "/tracks");
    const std::int64_t offsets[]{0, 1};
    dataset(file, "/tracks/track_offsets", H5T_STD_I64LE, space_of({2}), creation_list(), offsets);
    add_rest_of_tracks(file);
    const Handle list = creation_list();
    H5Pset_external(list.id(), secret.c_str(), 0, 8);
    dataset(file, "/tracks/z_um", H5T_IEEE_F64LE, space_of({1}), list);
  }
  const bool trusted = GENERATE(false, true);  // a trusted file may not name other files, either
  CAPTURE(trusted);
  std::optional<Trusted> trust;
  if (trusted) trust.emplace();
  CHECK_THAT(refusal_of_tracks(dir / "t.h5"), Contains("another file") && Contains(secret));
}

TEST_CASE("HDF5 links to other files and virtual datasets are refused by name") {
  const TempDir dir;
  io::write_tracks_h5(dir / "real.h5", sample_tracks());
  const std::string real = (dir / "real.h5").string();
  {
    const Handle file = create(dir / "link.h5");
    H5Lcreate_external(real.c_str(), "/tracks", file.id(), "/tracks", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK_THAT(refusal_of_tracks(dir / "link.h5"), Contains("another file") && Contains(real));
  {
    const Handle file = create(dir / "soft.h5");
    H5Lcreate_external(real.c_str(), "/", file.id(), "/away", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/away/tracks", file.id(), "/tracks", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK_THAT(refusal_of_tracks(dir / "soft.h5"), Contains("another file") && Contains(real));
  {
    const Handle file = create(dir / "loop.h5");
    H5Lcreate_soft("/b", file.id(), "/tracks", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/tracks", file.id(), "/b", H5P_DEFAULT, H5P_DEFAULT);
  }
  CHECK_THAT(refusal_of_tracks(dir / "loop.h5"), Contains("link to a link"));
  {
    const Handle file = create(dir / "virtual.h5");
    const Handle tracks = group(file, "/tracks");
    const Handle list = creation_list(), space = space_of({2});
    H5Pset_virtual(list.id(), space.id(), real.c_str(), "/tracks/track_offsets", space.id());
    dataset(file, "/tracks/track_offsets", H5T_STD_I64LE, space, list);
    dataset(file, "/tracks/track_id", H5T_STD_I64LE, space, creation_list());
  }
  CHECK_THAT(refusal_of_tracks(dir / "virtual.h5"), Contains("virtual"));
}

TEST_CASE("a soft link within an HDF5 file is followed") {
  const TempDir dir;
  io::write_tracks_h5(dir / "t.h5", sample_tracks());
  {
    const Handle file(H5Fopen((dir / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    H5Lmove(file.id(), "/tracks", file.id(), "/kept", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("kept", file.id(), "/tracks", H5P_DEFAULT, H5P_DEFAULT);
  }
  require_same_tracks(sample_tracks(), io::read_tracks_h5(dir / "t.h5"));
}

TEST_CASE("HDF5 numbers of odd precision are refused and do not crash") {
  const TempDir dir;
  {
    const Handle file = create(dir / "t.h5");
    const Handle tracks = group(file, "/tracks");
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle made(
        H5Acreate2(file.id(), "format_version", H5T_STD_I64LE, space.id(), H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose);
    const std::int64_t one = 1;
    H5Awrite(made.id(), H5T_STD_I64LE, &one);
  }
  const std::string bytes = slurp(dir / "t.h5");
  // Class and version, flags (signed), size 8, bit offset 0, precision 64.
  const std::string type("\x10\x08\x00\x00\x08\x00\x00\x00\x00\x00\x40\x00", 12);
  const std::size_t at = bytes.find(type);
  REQUIRE(at != std::string::npos);
  for (const int precision : {0, 1, 63, 65, 20000, 65535}) {
    CAPTURE(precision);
    std::string changed = bytes;
    changed[at + 10] = static_cast<char>(precision & 0xff);
    changed[at + 11] = static_cast<char>(precision >> 8);
    spill(dir / "p.h5", changed);
    CHECK_FALSE(refusal_of_tracks(dir / "p.h5").empty());
  }
  for (const int size : {0, 3, 16, 255}) {
    CAPTURE(size);
    std::string changed = bytes;
    changed[at + 4] = static_cast<char>(size);
    spill(dir / "p.h5", changed);
    CHECK_FALSE(refusal_of_tracks(dir / "p.h5").empty());
  }
}

TEST_CASE("HDF5 attributes must have one value if one is expected") {
  const TempDir dir;
  io::write_tracks_h5(dir / "t.h5", sample_tracks());
  {
    const Handle file(H5Fopen((dir / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    H5Adelete(file.id(), "units");
    text_attributes(file, "units", 4000);
  }
  CHECK_THAT(refusal_of_tracks(dir / "t.h5"), Contains("units") && Contains("4000"));
  {
    const Handle file(H5Fopen((dir / "t.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    H5Adelete(file.id(), "units");
    text_attributes(file, "units", 0);
  }
  CHECK_THAT(refusal_of_tracks(dir / "t.h5"), Contains("units must be"));
}

TEST_CASE("HDF5 chunks and lengths that are impossible for the file's size are rejected") {
  const TempDir dir;
  {
    const Handle file = create(dir / "t.h5");
    const Handle tracks = group(file, "/tracks");
    const hsize_t chunk = 500'000'000, most = H5S_UNLIMITED, length = 2;
    const Handle list = creation_list();
    H5Pset_chunk(list.id(), 1, &chunk);
    H5Pset_deflate(list.id(), 1);
    const Handle space(H5Screate_simple(1, &length, &most), H5Sclose);
    dataset(file, "/tracks/track_offsets", H5T_STD_I64LE, space, list);
  }
  CHECK(std::filesystem::file_size(dir / "t.h5") < 10'000);
  CHECK_THAT(refusal_of_tracks(dir / "t.h5"), Contains("chunks larger than the file"));
}

TEST_CASE("compact HDF5 data shorter than their shape are rejected") {
  const TempDir dir;
  {
    const Handle file = create(dir / "t.h5");
    const Handle tracks = group(file, "/tracks");
    const Handle list = creation_list();
    H5Pset_layout(list.id(), H5D_COMPACT);
    const std::int64_t offsets[]{0, 0x1122334455667788};
    dataset(file, "/tracks/track_offsets", H5T_STD_I64LE, space_of({2}), list, offsets);
    dataset(file, "/tracks/track_id", H5T_STD_I64LE, space_of({1}), creation_list(), offsets);
    dataset(file, "/tracks/frame", H5T_STD_I64LE, space_of({1}), creation_list(), offsets);
  }
  std::string bytes = slurp(dir / "t.h5");
  const std::size_t values = bytes.find("\x88\x77\x66\x55\x44\x33\x22\x11");
  REQUIRE(values != std::string::npos);
  // Version 3, class 0 (compact), u16 length, then the data.
  REQUIRE(bytes[values - 10] == 16);
  bytes[values - 10] = 8;
  spill(dir / "c.h5", bytes);
  CHECK_FALSE(refusal_of_tracks(dir / "c.h5").empty());
}

TEST_CASE("every byte of a small HDF5 file can be changed without a crash") {
  const TempDir dir;
  {
    const Handle file = create(dir / "t.h5");
    const Handle tracks = group(file, "/tracks");
    const std::int64_t offsets[]{0, 1};
    const hsize_t chunk = 2;
    const Handle list = creation_list();
    H5Pset_chunk(list.id(), 1, &chunk);
    H5Pset_shuffle(list.id());
    H5Pset_deflate(list.id(), 1);
    dataset(file, "/tracks/track_offsets", H5T_STD_I64LE, space_of({2}), list, offsets);
    add_rest_of_tracks(file);
    const double z = 1;
    dataset(file, "/tracks/z_um", H5T_IEEE_F64LE, space_of({1}), creation_list(), &z);
    text_attributes(file, "units", 0);
  }
  // Each in a child process, since the library crashes on some of these.
  read_damaged_copies(dir / "d.h5", slurp(dir / "t.h5"), 400,
                      [](const auto& path) { io::read_tracks_h5(path); });
}

TEST_CASE("other HDF5 readers refuse data of other files too") {
  const TempDir dir;
  spill(dir / "secret", std::string(4096, 's'));
  const std::string secret = (dir / "secret").string();
  const auto external = [&](const Handle& file, const char* name, hid_t type, const Handle& space,
                            hsize_t bytes) {
    const Handle list = creation_list();
    H5Pset_external(list.id(), secret.c_str(), 0, bytes);
    dataset(file, name, type, space, list);
  };
  {
    const Handle file = create(dir / "cost.h5");
    external(file, "cost", H5T_STD_I32LE, space_of({4, 4}), 64);
  }
  CHECK_THAT(error_of<InputError>([&] { io::read_problem(dir / "cost.h5"); }), Contains(secret));
  {
    const Handle file = create(dir / "detections.h5");
    const Handle made = group(file, "/detections");
    external(file, "/detections/frame_offsets", H5T_STD_I64LE, space_of({2}), 16);
  }
  CHECK_THAT(error_of<InputError>([&] { io::read_detections_h5(dir / "detections.h5"); }), Contains(secret));
  {
    const Handle file = create(dir / "bdv.h5");
    const Handle t = group(file, "/t00000"), s = group(file, "/t00000/s00"), l = group(file, "/t00000/s00/0");
    external(file, "/t00000/s00/0/cells", H5T_STD_U16LE, space_of({2, 4, 4}), 64);
  }
  CHECK_THAT(error_of<InputError>([&] { io::open_frames(dir / "bdv.h5"); }), Contains(secret));
  {
    const Handle file = create(dir / "t.vtkhdf");
    const Handle made = group(file, "/VTKHDF"), steps = group(file, "/VTKHDF/Steps"),
                 data = group(file, "/VTKHDF/PointData");
    external(file, "/VTKHDF/Steps/Values", H5T_IEEE_F64LE, space_of({1}), 8);
    external(file, "/VTKHDF/PointData/track_id", H5T_STD_I64LE, space_of({1}), 8);
    external(file, "/VTKHDF/PointData/frame", H5T_STD_I64LE, space_of({1}), 8);
  }
  CHECK_THAT(error_of<InputError>([&] { io::read_tracks_vtkhdf(dir / "t.vtkhdf"); }), Contains(secret));
}

// Sanitizers reserve far more address space than memory; clang has no macro for them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
TEST_CASE("without memory, trusted HDF5 files are refused by name") {
  const TempDir dir;
  constexpr hsize_t kValues = hsize_t{1} << 23;
  std::vector<double> values(kValues);
  {
    const Handle file = create(dir / "large.h5");
    const Handle list = creation_list();
    H5Pset_chunk(list.id(), 1, &kValues);
    H5Pset_deflate(list.id(), 1);
    dataset(file, "/x", H5T_IEEE_F64LE, space_of({kValues}), list, values.data());
  }
  const Trusted trust;
  const io::detail::h5::Reader file(dir / "large.h5");
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit limit = before;
  limit.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (16 << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  std::string said;
  try {
    file.read("/x", io::detail::h5::Number::f64, std::as_writable_bytes(std::span(values)));
  } catch (const ResourceError& error) {
    said = error.what();
  } catch (const std::bad_alloc&) {
  }
  setrlimit(RLIMIT_AS, &before);
  CHECK_THAT(said, Contains("large.h5") && Contains("not enough memory"));
}
#endif
