// Replaces the files that use VTK, in builds without it.

#include <motes/base/errors.h>
#include <motes/io/vtk_tracks.h>

namespace motes::io {
namespace {

[[noreturn]] void no_vtk(const std::filesystem::path& path, const char* instead) {
  throw UsageError(path.string() + ": this build of motes has no VTK; " + instead);
}

}  // namespace

bool has_vtk() { return false; }

void write_tracks_vtp(const std::filesystem::path& path, const TrackSet&, std::int32_t) {
  no_vtk(path, "write .vtkhdf, which ParaView reads too");
}

void write_frames_pvd(const std::filesystem::path& path, const TrackSet&, std::int32_t, std::size_t) {
  no_vtk(path, "write .vtkhdf, which ParaView reads too");
}

void remove_frames_pvd(const std::filesystem::path&) {}

TrackSet read_tracks_vtp(const std::filesystem::path& path) {
  no_vtk(path, "convert the file to .h5 or .csv with a build that has it");
}

}  // namespace motes::io
