// A reader fed with the fuzzer's bytes as a file: it reads them, or refuses them with one of the project's
// errors. Anything else (another exception, a sanitizer's report, a hang, too much memory) is a finding.
//
// HDF5 is read in its child process, as users' files are: a crash of the library there is an InputError, and
// the fuzzer sees the parent's side.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/checkpoint.h>
#include <motes/io/detections_h5.h>
#include <motes/io/frame_source.h>
#include <motes/io/problem_files.h>
#include <motes/io/tables.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

namespace {

using namespace motes;

void read_frames(const std::string& path) {
  const auto source = io::open_frames(path);
  constexpr std::int32_t kFrames = 2;
  constexpr std::int64_t kVoxels = 1 << 24;  // larger ones only cost time
  if (source->info().shape.voxels() > kVoxels) return;
  for (std::int32_t t = 0; t < std::min(kFrames, source->info().frames); ++t) source->read(t);
}

void tracks_h5(const std::string& path) { io::read_tracks_h5(path); }
void detections_h5(const std::string& path) { io::read_detections_h5(path); }
void vtkhdf(const std::string& path) { io::read_tracks_vtkhdf(path); }
void bdv_h5(const std::string& path) { read_frames(path); }
void problem_h5(const std::string& path) { io::read_problem(path); }
void tiff(const std::string& path) { read_frames(path); }
void matrix_market(const std::string& path) { io::read_problem(path); }
void points_csv(const std::string& path) { io::read_points_csv(path, {Vec3{1, 1, 1}, 1.0}); }
void tracks_csv(const std::string& path) { io::read_tracks_csv(path); }
void challenge_xml(const std::string& path) { io::read_challenge_xml(path); }
void vtp(const std::string& path) { io::read_tracks_vtp(path); }
void checkpoint(const std::string& path) { io::read_checkpoint(path, "fuzz"); }
void bdv_xml(const std::string& path) { read_frames(path); }

#define MOTES_TEXT(name) #name
#define MOTES_NAME(name) MOTES_TEXT(name)

/// The extension that the reader looks at.
std::string extension() {
  const std::string name = MOTES_NAME(MOTES_FUZZ_READER);
  if (name == "matrix_market") return ".mtx";
  if (name == "vtkhdf") return ".vtkhdf";
  if (name.ends_with("_h5")) return ".h5";
  if (name.ends_with("_xml")) return ".xml";
  if (name.ends_with("_csv")) return ".csv";
  return name == "tiff" ? ".tif" : "." + name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("motes-fuzz-" + std::to_string(getpid()) + extension()))
          .string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    MOTES_FUZZ_READER(path);
  } catch (const Error&) {
  }
  std::filesystem::remove(path);
  return 0;
}
