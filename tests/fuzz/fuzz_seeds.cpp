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
#include <motes/io/geff.h>
#include <motes/io/ome_tiff_writer.h>
#include <motes/io/tables.h>
#include <motes/io/trackmate_xml.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "tests/fuzz/bundle.h"
#include "tests/io/images/imaris_file.h"
#include "tests/io/images/png_bytes.h"
#include "tests/io/images/tiff_bytes.h"

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

/// Picasso's records of a frame, x, y, z and a group.
void write_picasso(const path& path) {
  struct Record {
    std::uint32_t frame;
    float x, y, z;
    std::int32_t group;
  };
  const Record records[] = {{0, 1, 2, 3, 0}, {1, 1.5f, 2, 3, 0}, {1, 4, 5, 6, 1}};
  const hsize_t rows = 3;
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Record));
  H5Tinsert(type, "frame", offsetof(Record, frame), H5T_STD_U32LE);
  H5Tinsert(type, "x", offsetof(Record, x), H5T_IEEE_F32LE);
  H5Tinsert(type, "y", offsetof(Record, y), H5T_IEEE_F32LE);
  H5Tinsert(type, "z", offsetof(Record, z), H5T_IEEE_F32LE);
  H5Tinsert(type, "group", offsetof(Record, group), H5T_STD_I32LE);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  const hid_t data = H5Dcreate2(file, "locs", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records);
  H5Dclose(data);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

/// Replaces the folder by one file that holds it.
void pack_folder(const path& folder, const path& file) {
  fuzz::spill(file, fuzz::pack(folder));
  std::filesystem::remove_all(folder);
}

/// 24 values of 16 bits.
const std::string kPlain(48, '\1');

std::string scales(const std::string& version) {
  return R"("multiscales":[{"version":")" + version +
         R"(","axes":[{"name":"t","type":"time","unit":"second"},{"name":"z","type":"space","unit":"micrometer"},)"
         R"({"name":"y","type":"space","unit":"nanometer"},{"name":"x","type":"space","unit":"nanometer"}],)"
         R"("datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[0.5,1,100,200]}]}]}])";
}

std::string bundle(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out;
  for (const auto& [name, bytes] : files) out += std::string(fuzz::kMark) + name + "\n" + bytes + "\n";
  return out;
}

void write_zarr_seeds(const path& folder) {
  const std::string shape = R"("shape":[2,2,3,4])";
  for (const std::string codec : {"null", R"({"id":"blosc","cname":"lz4"})", R"({"id":"zlib"})"})
    fuzz::spill(
        folder / ("v2-" + std::to_string(codec.size())),
        bundle({{".zgroup", R"({"zarr_format":2})"},
                {".zattrs", "{" + scales("0.4") + "}"},
                {"0/.zarray", R"({"zarr_format":2,)" + shape +
                                  R"(,"chunks":[1,2,3,4],"dtype":"<u2","compressor":)" + codec +
                                  R"(,"fill_value":0,"order":"C","filters":null,"dimension_separator":"/"})"},
                {"0/0/0/0/0", kPlain}}));
  const std::string array = R"({"zarr_format":3,"node_type":"array",)" + shape + R"(,"data_type":"uint16",)" +
                            R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,2,3,4]}},)" +
                            R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)" +
                            R"("fill_value":0,"codecs":)";
  const std::string bytes = R"({"name":"bytes","configuration":{"endian":"little"}})";
  const std::string group =
      R"({"zarr_format":3,"node_type":"group","attributes":{"ome":{"version":"0.5",)" + scales("0.5") + "}}}";
  fuzz::spill(
      folder / "v3",
      bundle({{"zarr.json", group}, {"0/zarr.json", array + "[" + bytes + "]}"}, {"0/c/0/0/0/0", kPlain}}));
  const std::string shards =
      R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1,3,4],"codecs":[)" + bytes +
      R"(],"index_codecs":[{"name":"bytes"},{"name":"crc32c"}],"index_location":"end"}}]})";
  fuzz::spill(folder / "shards", bundle({{"zarr.json", group},
                                         {"0/zarr.json", array + shards},
                                         {"0/c/0/0/0/0", kPlain + std::string(36, '\0')}}));
}

void write_n5_seeds(const path& folder) {
  using namespace std::string_literals;
  const std::string header = "\0\0\0\3\0\0\0\4\0\0\0\3\0\0\0\2"s;
  for (const std::string codec : {"raw", "gzip", "blosc", "zstd"})
    fuzz::spill(
        folder / codec,
        bundle({{"attributes.json", R"({"n5":"2.0.0"})"},
                {"setup0/attributes.json", R"({"downsamplingFactors":[[1,1,1]],"dataType":"uint16"})"},
                {"setup0/timepoint0/s0/attributes.json",
                 R"({"dataType":"uint16","compression":{"type":")" + codec +
                     R"("},"blockSize":[4,3,2],"dimensions":[4,3,4]})"},
                {"setup0/timepoint0/s0/0/0/0", header + kPlain}}));
}

void write_descriptions(const path& folder) {
  fuzz::spill(
      folder / "imagej",
      "ImageJ=1.53t\nimages=6\nslices=3\nframes=2\nhyperstack=true\nunit=micron\nspacing=0.5\nfinterval=2\n");
  fuzz::spill(folder / "tifffile", R"({"shape": [2, 3, 11, 13], "axes": "TZYX"})");
  fuzz::spill(
      folder / "ome",
      R"(<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">)"
      R"(<Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint16" SizeX="13" SizeY="11" SizeZ="3" SizeC="1" SizeT="2" )"
      R"(PhysicalSizeX="0.1" PhysicalSizeY="0.1" PhysicalSizeZ="300" PhysicalSizeZUnit="nm" TimeIncrement="2" )"
      R"(TimeIncrementUnit="ms"><TiffData IFD="0" FirstZ="0" FirstT="0" FirstC="0" PlaneCount="6"/>)"
      R"(<Plane TheZ="0" TheT="1" TheC="0" DeltaT="2.5"/></Pixels></Image></OME>)");
}

/// Two masks of two voxels, of which one bears the label 3.
void write_ctc_seed(const path& folder) {
  testing::TiffSpec spec;
  spec.type = io::VoxelType::u8;
  spec.width = 2;
  spec.height = 1;
  const std::string mask = testing::TiffBytes(spec).bytes();
  fuzz::spill(folder / "a",
              bundle({{"res_track.txt", "3 0 1 0\n"}, {"mask000.tif", mask}, {"mask001.tif", mask}}));
}

void write_png_seeds(const path& folder) {
  for (const int colour : {testing::kGrey, testing::kColour, testing::kPalette, testing::kColourAlpha})
    for (const bool interlaced : {false, true}) {
      testing::PngSpec spec;
      spec.colour = colour, spec.interlaced = interlaced;
      spec.depth = colour == testing::kPalette ? 2 : interlaced ? 16 : 8;
      if (colour == testing::kPalette) spec.palette = std::string("aaabbbcccddd"), spec.transparency = "\xFF";
      spec.sample = [](int y, int x, int channel) { return channel == 3 ? 255 : (x + y) % 4; };
      fuzz::spill(folder / std::to_string(2 * colour + interlaced), testing::png_bytes(spec));
    }
}

void write_png_series(const path& folder) {
  testing::PngSpec spec;
  spec.width = 4, spec.height = 3;
  const auto plane = [&](int value) {
    spec.sample = [value](int y, int x, int) { return value + x + y; };
    return testing::png_bytes(spec);
  };
  fuzz::spill(folder / "planes",
              bundle({{"frame1.png", plane(1)}, {"frame2.png", plane(2)}, {"frame3.png", plane(3)}}));
  fuzz::spill(folder / "named", bundle({{"a_t0_z0.png", plane(1)},
                                        {"a_t0_z1.png", plane(2)},
                                        {"a_t1_z0.png", plane(3)},
                                        {"a_t1_z1.png", plane(4)}}));
  fuzz::spill(folder / "folders", bundle({{"t0/z0.png", plane(1)}, {"t1/z0.png", plane(2)}}));
  const std::string grey = plane(1);
  spec.colour = testing::kColour;
  spec.depth = 16;
  fuzz::spill(folder / "mixed", bundle({{"f0.png", grey}, {"f1.png", plane(5)}}));
}

void write_image_folders(const path& folder) {
  testing::TiffSpec spec;
  spec.width = spec.height = 4;
  const std::string tiff = testing::TiffBytes(spec).bytes();
  const std::string metadata =
      R"({"Summary":{"PixelSize_um":0.1,"z-step_um":0.5,"Interval_ms":200,"PixelAspect":1,"Slices":2,"Frames":1}})";
  fuzz::spill(folder / "micromanager", bundle({{"metadata.txt", metadata},
                                               {"img_000000000_Default_000.tif", tiff},
                                               {"img_000000000_Default_001.tif", tiff}}));
  fuzz::spill(
      folder / "planes",
      bundle({{"a_t0_z0.tif", tiff}, {"a_t0_z1.tif", tiff}, {"a_t1_z0.tif", tiff}, {"a_t1_z1.tif", tiff}}));
  testing::PngSpec png;
  png.width = png.height = 4;
  const std::string plane = testing::png_bytes(png);
  fuzz::spill(folder / "pngs", bundle({{"frame0.png", plane}, {"frame1.png", plane}}));
  fuzz::spill(
      folder / "companion",
      bundle(
          {{"a.companion.ome",
            R"(<OME><Image ID="Image:0"><Pixels DimensionOrder="XYZCT" Type="uint16" SizeX="4" SizeY="4" SizeZ="2" )"
            R"(SizeC="1" SizeT="1"><TiffData FirstZ="0" IFD="0"><UUID FileName="a.tif">urn:uuid:1</UUID></TiffData>)"
            R"(<TiffData FirstZ="1" IFD="0"><UUID FileName="b.tif">urn:uuid:2</UUID></TiffData></Pixels></Image></OME>)"},
           {"a.tif", tiff},
           {"b.tif", tiff}}));
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
  io::write_detections_h5(folder("detections_h5") / "a.h5", {small_frames(), "um", {}});
  write_picasso(folder("picasso") / "a.hdf5");
  io::write_tracks_vtkhdf(folder("vtkhdf") / "a.vtkhdf", tracks);
  io::write_tracks_vtp(folder("vtp") / "a.vtp", tracks);
  io::write_tracks_csv(folder("tracks_csv") / "a.csv", tracks);
  io::write_points_csv(folder("points_csv") / "a.csv", {small_frames(), "um", 1.0});
  io::write_challenge_xml(folder("challenge_xml") / "a.xml", tracks);
  fuzz::spill(
      folder("mtrackj") / "a.mdf",
      "MTrackJ 1.5.1 Data File\nDisplaying true 1\nAssembly 1 FF0000\nCluster 1 FF0000\nTrack 1 FF0000 true\n"
      "Point 1 1.5 2.0 1.0 1.0 1.0\nPoint 2 1.5 2.0 1.0 2.0 1.0\nCluster 2\nTrack 1\nPoint 1 3 4 2 1 2\n"
      "End of MTrackJ Data File\n");
  write_volumes<io::BdvWriter>(folder("bdv_h5") / "a.h5", io::BdvOptions{2, 1, true});
  std::filesystem::create_directories(folder("bdv_xml"));
  std::filesystem::rename(folder("bdv_h5") / "a.xml", folder("bdv_xml") / "a.xml");
  testing::imaris::write_imaris(folder("imaris") / "a.ims");
  for (const bool deflate : {false, true})
    write_volumes<io::OmeTiffWriter>(folder("tiff") / (deflate ? "deflate.ome.tif" : "plain.ome.tif"),
                                     io::OmeTiffOptions{2, 1, deflate});
  io::write_trackmate_xml(folder("trackmate_xml") / "a.xml", tracks);
  io::write_geff(folder("geff") / "a.geff", tracks);
  pack_folder(folder("geff") / "a.geff", folder("geff") / "a");
  write_ctc_seed(folder("ctc"));
  write_zarr_seeds(folder("zarr"));
  write_n5_seeds(folder("n5"));
  write_descriptions(folder("tiff_description"));
  write_png_seeds(folder("png"));
  write_png_series(folder("png_series"));
  write_image_folders(folder("image_folder"));
  fuzz::spill(folder("tables") / "trackpy", ",y,x,mass,frame,particle\n0,1.5,2,9,0,0\n1,2.5,2,9,1,0\n");
  fuzz::spill(folder("tables") / "trackmate",
              "LABEL,ID,TRACK_ID,QUALITY,POSITION_X,POSITION_Y,POSITION_Z,FRAME\nLabel,Spot ID,Track "
              "ID,Quality,X,Y,Z,Frame\n"
              ",,,(quality),(micron),(micron),(micron),\nID1,1,0,5.5,1,2,3,0\nID2,2,0,5.5,1,2,3,1\n");
  fuzz::spill(folder("tables") / "commas",
              "\xEF\xBB\xBF"
              "frame;x [nm];y [nm];z [nm]\r\n0;1,5;2,5;3\r\n1;1,5;2,5;3\r\n");
  fuzz::spill(folder("tables") / "named", "a\tb\tc\td\n1\t2\t0\t7\n1\t2\t1\t7\n");
  fuzz::spill(folder("tables") / "excel", "sep=;\r\nframe;x [nm];y [nm]\r\n0;1;2\r\n;;\r\n1;1;3\r\n");
  fuzz::spill(folder("tables") / "quoted", "\"frame,x_um,y_um\"\r\n\"0,1,2\"\r\n\"1,1.5,\"\"2\"\"\"\r\n");
  fuzz::spill(folder("tables") / "rapidstorm",
              "# <localizations insequence=\"true\"><field identifier=\"Position-0-0\" unit=\"nanometer\" />"
              "<field identifier=\"Position-1-0\" unit=\"nanometer\" /><field identifier=\"ImageNumber-0-0\" "
              "unit=\"frame\" /></localizations>\n9657.4 24533.5 0\n9657.9 24530 1\n");
  fuzz::spill(folder("tables") / "units", "t_s,x,y,z\nmin,(um),(um),(um)\n1,2,3,4\n2,2,3,4\n");
  fuzz::spill(folder("tables") / "rows", "\"frame\" \"x\" \"y\"\n\"1\" 0 5 6\n\"2\" 1 5 6\n");
  std::string wide = "\xFF\xFE";
  for (const char c : std::string_view("particle,frame,x,y\n7,0,1,2\n7,1,1,2\n")) wide += {c, '\0'};
  fuzz::spill(folder("tables") / "utf16", wide);
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
