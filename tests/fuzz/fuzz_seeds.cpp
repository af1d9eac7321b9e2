// Writes one or two small sound files for every reader: fuzz_seeds FOLDER makes FOLDER/READER/*. The fuzzer
// starts from them.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <hdf5.h>

#include <motes/io/atomic_file.h>
#include <motes/io/bdv_writer.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/checkpoint.h>
#include <motes/io/detections_h5.h>
#include <motes/io/ome_tiff_writer.h>
#include <motes/io/tables.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

namespace {

using namespace motes;
using std::filesystem::path;

TrackSet small_tracks() {
  TrackSet tracks;
  tracks.dt_s = 0.5;
  for (std::int64_t id : {3, 7}) {
    for (std::int32_t frame = 0; frame < 3; ++frame) {
      tracks.frame.push_back(frame + static_cast<std::int32_t>(id));
      tracks.detection.push_back(frame);
      tracks.time_s.push_back(0.5 * tracks.frame.back());
      tracks.x_um.push_back(1.5 * static_cast<double>(id));
      tracks.y_um.push_back(2.25 + frame);
      tracks.z_um.push_back(0.125 * frame);
    }
    tracks.track_id.push_back(id);
    tracks.track_offsets.push_back(static_cast<std::int64_t>(tracks.points()));
  }
  tracks.parent = {-1, 3};
  tracks.point_properties = {{"quality", {1, 2, 3, 4, 5, 6}}};
  return tracks;
}

std::vector<Detections> small_frames() {
  std::vector<Detections> frames(2);
  for (std::int32_t t = 0; t < 2; ++t) {
    Detections& frame = frames[static_cast<std::size_t>(t)];
    frame.frame = t;
    frame.time_s = t;
    frame.x_um = frame.y_um = frame.z_um = frame.radius_um = frame.intensity = frame.quality = {1.0, 2.5};
    frame.properties = {{"area", {3, 4}}};
  }
  return frames;
}

VolumeFrame small_volume(std::int32_t index) {
  VolumeFrame frame;
  frame.index = index;
  frame.shape = {2, 4, 4};
  frame.voxel_um = {0.5, 0.25, 0.25};
  std::vector<std::uint16_t> voxels(32);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<std::uint16_t>(i * 7);
  frame.voxels = voxels;
  return frame;
}

template <class Writer, class Options>
void write_volumes(const path& file, const Options& options) {
  Writer writer(file, options);
  for (std::int32_t t = 0; t < 2; ++t) writer.write(small_volume(t));
  writer.close();
}

/// The same points as a dense and a sparse problem.
void write_problems(const path& folder) {
  const double costs[] = {1, 2, 3, 4, 5, 6};
  const hsize_t shape[] = {2, 3};
  const hid_t file = H5Fcreate((folder / "dense.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(2, shape, nullptr);
  const hid_t data = H5Dcreate2(file, "cost", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, costs);
  H5Dclose(data);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "fuzz_seeds FOLDER\n"), 2;
  const auto folder = [&](const char* reader) {
    const path made = path(argv[1]) / reader;
    std::filesystem::create_directories(made);
    return made;
  };
  const TrackSet tracks = small_tracks();
  io::write_tracks_h5(folder("tracks_h5") / "a.h5", tracks);
  io::write_detections_h5(folder("detections_h5") / "a.h5", small_frames(), {});
  io::write_tracks_vtkhdf(folder("vtkhdf") / "a.vtkhdf", tracks);
  io::write_tracks_vtp(folder("vtp") / "a.vtp", tracks);
  io::write_tracks_csv(folder("tracks_csv") / "a.csv", tracks);
  io::write_points_csv(folder("points_csv") / "a.csv", small_frames(), "um", 1.0);
  io::write_challenge_xml(folder("challenge_xml") / "a.xml", tracks);
  write_volumes<io::BdvWriter>(folder("bdv_h5") / "a.h5", io::BdvOptions{2, 1, true});
  std::filesystem::create_directories(folder("bdv_xml"));
  std::filesystem::rename(folder("bdv_h5") / "a.xml", folder("bdv_xml") / "a.xml");
  for (const bool deflate : {false, true})
    write_volumes<io::OmeTiffWriter>(folder("tiff") / (deflate ? "deflate.ome.tif" : "plain.ome.tif"),
                                     io::OmeTiffOptions{2, 1, deflate});
  write_problems(folder("problem_h5"));
  io::write_text(folder("matrix_market") / "a.mtx",
                 "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1.5\n2 2 2\n3 1 3e2\n");
  io::write_text(folder("matrix_market") / "b.mtx",
                 "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n");
  std::filesystem::remove(folder("checkpoint") / "a.log");
  io::CheckpointWriter log(folder("checkpoint") / "a.log", "fuzz");
  for (const Detections& frame : small_frames()) log.append(frame, 2.5);
  io::write_text(
      folder("config") / "a.yaml",
      "input:\n  path: a.tif\n  voxel_um: [0.4, 0.1, 0.1]\nlinking:\n  gate_um: 1.5\n  model: velocity\n");
  return 0;
}
