/// Every reader of motes under one name, fed with bytes as a file, or as a folder of files (bundle.h).

#include "tests/fuzz/readers.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/checkpoint.h>
#include <motes/io/ctc.h>
#include <motes/io/detections_h5.h>
#include <motes/io/frame_source.h>
#include <motes/io/geff.h>
#include <motes/io/mtrackj.h>
#include <motes/io/picasso.h>
#include <motes/io/problem_files.h>
#include <motes/io/tables.h>
#include <motes/io/track_files.h>
#include <motes/io/trackmate_xml.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "app/options/config.h"
#include "io/files/text.h"
#include "io/images/folders/micromanager.h"
#include "tests/fuzz/bundle.h"
#include "tests/io/images/png_bytes.h"
#include "tests/io/images/tiff_bytes.h"

namespace {

using namespace motes;

/// One of several calls on the same input; a refusal does not end the others.
template <class Call>
void attempt(const Call& call) {
  try {
    call();
  } catch (const Error&) {
  }
}

void read_frames(const std::string& path, const io::FrameOptions& options) {
  const auto source = io::open_frames(path, options);
  constexpr std::int32_t kFrames = 2;
  constexpr std::int64_t kVoxels = 1 << 20;  // larger ones only cost time
  if (source->info().shape.voxels() > kVoxels) return;
  for (std::int32_t t = 0; t < std::min(kFrames, source->info().frames); ++t) source->read(t);
}

void read_frames(const std::string& path) { read_frames(path, {}); }

void tracks_h5(const std::string& path) { io::read_tracks_h5(path); }
void detections_h5(const std::string& path) { io::read_detections_h5(path); }
void picasso(const std::string& path) {
  const io::TableOptions pixels{Vec3{0.1, 0.1, 0.1}, 0.25};
  attempt([&] { io::read_picasso_points(path, pixels); });
  io::read_picasso_tracks(path, pixels);
}
void vtkhdf(const std::string& path) { io::read_tracks_vtkhdf(path); }
void problem_h5(const std::string& path) { io::read_problem(path); }
void matrix_market(const std::string& path) {
  attempt([&] { io::read_problem(path); });
  attempt([&] { io::read_graph(path); });
  attempt([&] { io::read_weighted_graph(path); });
}
void points_csv(const std::string& path) { io::read_points_csv(path, {Vec3{1, 1, 1}, 1.0}); }
void tracks_csv(const std::string& path) { io::read_tracks_csv(path); }
/// Plain x, y, z in each unit, columns named by the user, and the sniffing of what kind of tracks they are.
void tables(const std::string& path) {
  io::TableOptions named;
  named.unit = io::TableUnit::nm;
  named.columns = {{"x", "a"}, {"y", "b"}, {"frame", "c"}, {"particle", "d"}};
  io::TableOptions pixels{Vec3{2, 0.5, 0.5}, 0.25};
  pixels.unit = io::TableUnit::px;
  attempt([&] { io::is_text_table(path); });
  for (const io::TableOptions& options : {io::TableOptions{}, pixels, named}) {
    attempt([&] { io::read_points_csv(path, options); });
    attempt([&] { io::read_tracks(path, options); });
  }
}
void challenge_xml(const std::string& path) { io::read_challenge_xml(path); }
void mtrackj(const std::string& path) { io::read_mtrackj(path); }
void trackmate_xml(const std::string& path) {
  attempt([&] { io::read_trackmate_points(path); });
  io::read_trackmate_xml(path);
}
void vtp(const std::string& path) { io::read_tracks_vtp(path); }
void checkpoint(const std::string& path) { io::read_checkpoint(path, "fuzz"); }

void geff(const std::string& folder) { io::read_geff(folder); }
void ctc(const std::string& folder) { io::read_ctc(folder); }
/// Planes and volumes in files, with MicroManager's metadata.txt or an OME companion beside them.
void image_folder(const std::string& folder) {
  attempt([&] { io::detail::read_micromanager(folder); });
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ome") attempt([&] { read_frames(entry.path().string()); });
  read_frames(folder);
}

/// PNGs by the axes that their names count, and as planes over time or z.
void png_series(const std::string& folder) {
  for (const char* axes : {"", "TYX", "ZYX", "TZ2YX"}) {
    io::FrameOptions options;
    if (*axes != '\0') options.axes = axes;
    attempt([&] { read_frames(folder, options); });
  }
}

/// The YAML configuration and --set: what is read is written so that it reads back the same.
void config(const std::string& path) {
  const std::string text = io::detail::read_whole_file(path);
  app::Config read;
  attempt([&] {
    app::load_yaml_text(text, "fuzz", read);
    app::check_consistency(read);
    app::Config again;
    const std::string written = app::to_yaml(read);
    app::load_yaml_text(written, "again", again);
    if (app::to_yaml(again) != written) __builtin_trap();
  });
  app::Config assigned;
  app::apply_assignment(assigned, text);
}

struct Reader {
  const char* name;
  void (*read)(const std::string& path);
  const char* extension;  ///< that the reader looks at
  bool folder = false;
};

constexpr Reader kReaders[] = {{"tracks_h5", tracks_h5, ".h5"},
                               {"detections_h5", detections_h5, ".h5"},
                               {"picasso", picasso, ".hdf5"},
                               {"vtkhdf", vtkhdf, ".vtkhdf"},
                               {"bdv_h5", read_frames, ".h5"},
                               {"imaris", read_frames, ".ims"},
                               {"problem_h5", problem_h5, ".h5"},
                               {"tiff", read_frames, ".tif"},
                               {"tiff_description", read_frames, ".tif"},
                               {"png", read_frames, ".png"},
                               {"png_series", png_series, "", true},
                               {"image_folder", image_folder, "", true},
                               {"bdv_xml", read_frames, ".xml"},
                               {"zarr", read_frames, ".ome.zarr", true},
                               {"n5", read_frames, ".n5", true},
                               {"matrix_market", matrix_market, ".mtx"},
                               {"points_csv", points_csv, ".csv"},
                               {"tracks_csv", tracks_csv, ".csv"},
                               {"tables", tables, ".csv"},
                               {"challenge_xml", challenge_xml, ".xml"},
                               {"mtrackj", mtrackj, ".mdf"},
                               {"trackmate_xml", trackmate_xml, ".xml"},
                               {"geff", geff, ".geff", true},
                               {"ctc", ctc, ".ctc", true},
                               {"vtp", vtp, ".vtp"},
                               {"checkpoint", checkpoint, ".log"},
                               {"config", config, ".yaml"}};

/// A PNG with right checksums, since libpng looks no further where one is wrong.
std::string with_checksums(std::string png) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, name and checksum
  for (std::size_t at = kSignature; at + kAround <= png.size();) {
    std::uint32_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(png[at + i]);
    if (length > png.size() - at - kAround) break;
    const auto* body = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    png.replace(at + 8 + length, 4, testing::big32(crc32(0, body, length + 4)));
    at += kAround + length;
  }
  return png;
}

void mend_checksums(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      fuzz::spill(entry.path(), with_checksums(io::detail::read_whole_file(entry.path())));
}

/// A TIFF's description is put into a sound TIFF of six pages.
void make_input(const Reader& to, const std::string& path, std::string_view bytes) {
  if (to.folder) {
    std::filesystem::create_directories(path);
    fuzz::unpack(bytes, path);
    if (to.name == std::string_view("png_series")) mend_checksums(path);
  } else if (to.name == std::string_view("tiff_description")) {
    testing::TiffSpec spec;
    spec.pages = 6;
    spec.description = std::string(bytes);
    fuzz::spill(path, testing::TiffBytes(spec).bytes());
  } else if (to.name == std::string_view("png")) {
    fuzz::spill(path, with_checksums(std::string(bytes)));
  } else {
    fuzz::spill(path, bytes);
  }
}

}  // namespace

namespace motes::fuzz {

std::vector<std::string> reader_names() {
  std::vector<std::string> names;
  for (const Reader& reader : kReaders) names.emplace_back(reader.name);
  return names;
}

bool run_reader(std::string_view name, std::string_view bytes) {
  const auto* reader = std::find_if(std::begin(kReaders), std::end(kReaders),
                                    [&](const Reader& one) { return one.name == name; });
  if (reader == std::end(kReaders)) return false;
  static const std::string base =
      (std::filesystem::temp_directory_path() / ("motes-fuzz-" + std::to_string(getpid()))).string();
  const std::string path = base + reader->extension;
  make_input(*reader, path, bytes);
  attempt([&] { reader->read(path); });
  std::filesystem::remove_all(path);
  return true;
}

}  // namespace motes::fuzz
