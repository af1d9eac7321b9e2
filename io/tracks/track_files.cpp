/// The table of track formats.

#include <algorithm>
#include <functional>
#include <string_view>
#include <tuple>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/ctc.h>
#include <motes/io/geff.h>
#include <motes/io/mtrackj.h>
#include <motes/io/napari_csv.h>
#include <motes/io/picasso.h>
#include <motes/io/track_files.h>
#include <motes/io/trackmate_xml.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "io/files/encoding.h"
#include "io/files/gzip.h"
#include "io/files/text.h"
#include "io/hdf5/reader.h"
#include "io/images/tiff/directories.h"
#include "io/images/unsupported_formats.h"
#include "io/tracks/lineages/track_graph.h"

namespace motes::io {
namespace {

/// The data that a format can store.
enum Keeps : unsigned {
  kIds = 1,
  kParents = 2,
  kTimes = 4,
  kUnit = 8,
  kPointProperties = 16,
  kTrackProperties = 32,
  kDetections = 64,
  kAll = 127 | 256 | 512 | 1024,
  kLinked = 128,  ///< mothers, as links in time
  kGaps = 256,
  kPositions = 512,  ///< positions, to the bit
  kMerges = 1024,
};

struct Row {
  TrackFormat format;
  unsigned keeps;
  std::function<void(const std::filesystem::path&, const TrackSet&, const TrackImage&)> write;
};

/// Formats with longer extensions first, since tracks.trackmate.xml is not a challenge XML.
const std::vector<Row>& rows() {
  constexpr unsigned kExact = kGaps | kPositions;
  constexpr unsigned kTable = kExact | kIds | kParents | kMerges | kTimes | kUnit | kPointProperties;
  static const std::vector<Row> table{
      {{"motes HDF5", ".h5", true, true},
       kAll,
       [](const auto& p, const auto& t, const auto&) { write_tracks_h5(p, t); }},
      {{"TrackMate XML", ".trackmate.xml", true, true}, kTable | kLinked, write_trackmate_xml},
      {{"GEFF", ".geff", true, true},
       kTable | kLinked,
       [](const auto& p, const auto& t, const auto&) { write_geff(p, t); }},
      {{"Cell Tracking Challenge", ".ctc", true, true}, kParents | kLinked, write_ctc},
      {{"napari tracks CSV", ".napari.csv", true, true},
       kExact | kIds | kParents,
       [](const auto& p, const auto& t, const auto&) { write_napari_csv(p, t); }},
      {{"CSV", ".csv", true, true},
       kTable,
       [](const auto& p, const auto& t, const auto&) { write_tracks_csv(p, t); }},
      {{"challenge XML", ".xml", true, true},
       kExact,
       [](const auto& p, const auto& t, const auto&) { write_challenge_xml(p, t); }},
      {{"MTrackJ", ".mdf", true, false}, 0, {}},
      {{"Picasso HDF5", ".hdf5", true, false}, 0, {}},
      {{"VTK PolyData", ".vtp", true, true},
       kTable | kTrackProperties,
       [](const auto& p, const auto& t, const auto&) { write_tracks_vtp(p, t); }},
      {{"VTKHDF over time", ".vtkhdf", true, true}, kTable, [](const auto& p, const auto& t, const auto&) {
         write_tracks_vtkhdf(p, t);
       }}};
  return table;
}

std::string known_formats(std::string_view separator, bool TrackFormat::*ability) {
  std::string names;
  for (const TrackFormat& format : track_formats()) {
    if (!(format.*ability)) continue;
    if (!names.empty()) names += separator;
    names.append(format.name).append(" (").append(format.extension).append(")");
  }
  return names;
}

[[noreturn]] void unknown(const std::filesystem::path& path, const std::string& what) {
  throw InputError(path.string() + ": " + what + "; motes reads tracks from " +
                   known_formats(", ", &TrackFormat::reads));
}

[[noreturn]] void refuse_binary(const std::filesystem::path& path) {
  const std::string extension = detail::lower_case(path.extension().string());
  const std::string_view what = detail::what_to_do(extension);
  if (what.empty()) unknown(path, "unknown kind of binary file");
  throw InputError(path.string() + ": motes does not read " + extension + " files; " + std::string(what));
}

/// The format with the extension of this name.
const Row& row_of(const std::filesystem::path& path) {
  const std::string name = detail::lower_case(path.filename().string());
  for (const Row& row : rows()) {
    if (name.ends_with(row.format.extension) && row.format.writes) return row;
  }
  if (name.ends_with(".hdf5")) return rows().front();
  if (name.ends_with(".mdf"))
    throw UsageError(path.string() + ": MTrackJ's files are only read; use one of " +
                     known_formats(", ", &TrackFormat::writes));
  if (name.ends_with(".parquet") || name.ends_with(".pq"))
    throw UsageError(path.string() + ": Parquet is written in Python: motes.read(tracks).to_parquet(\"" +
                     path.filename().string() + "\")");
  throw UsageError(path.string() + ": the extension '" + path.extension().string() +
                   "' is unknown for tracks; use one of " + known_formats(", ", &TrackFormat::writes));
}

bool has_gaps(const TrackSet& tracks) {
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]) + 1;
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i)
      if (tracks.frame[i] > tracks.frame[i - 1] + 1) return true;
  return false;
}

/// Files of motes state its version.
void refuse_foreign_hdf5(const std::filesystem::path& path) {
  const detail::h5::Reader file(path);
  if (file.has("/tracks/track_offsets") || file.text_attribute("motes_version")) return;
  throw InputError(
      path.string() +
      ": this HDF5 file is of another program (not motes or Picasso); read it in Python and give the "
      "table to motes.Tracks.from_dataframe");
}

bool starts_as_xml(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const auto first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '<';
}

TrackSet read_xml(const std::filesystem::path& path, std::string_view start,
                  std::vector<std::string>* notes) {
  if (start.find("<VTKFile") != std::string_view::npos) {
    if (start.find("PolyData") == std::string_view::npos) unknown(path, "this VTK file has no PolyData");
    return read_tracks_vtp(path);
  }
  if (is_challenge_xml(path)) return read_challenge_xml(path);
  if (is_trackmate_xml(path)) return read_trackmate_xml(path, notes);
  unknown(path, "unknown kind of XML");
}

}  // namespace

const std::vector<TrackFormat>& track_formats() {
  static const std::vector<TrackFormat> formats = [] {
    std::vector<TrackFormat> all;
    for (const Row& row : rows()) all.push_back(row.format);
    return all;
  }();
  return formats;
}

std::filesystem::path tracks_of_run(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored) || is_geff(path) || is_ctc(path)) return path;
  const std::filesystem::path tracks = path / "tracks.h5";
  return std::filesystem::is_regular_file(tracks, ignored) ? tracks : path;
}

TrackSet read_tracks(const std::filesystem::path& given, const TableOptions& options,
                     std::vector<std::string>* notes) {
  const std::filesystem::path path = tracks_of_run(given);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (is_geff(path)) return read_geff(path, notes);
    if (is_ctc(path)) return read_ctc(path, notes);
    throw InputError(path.string() +
                     ": this folder has no tracks (the folder of a motes run, GEFF or the Cell Tracking "
                     "Challenge does); name a file in it");
  }
  constexpr std::size_t kStart = 4096;
  constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
  const std::string start = detail::inflated_start(path, kStart);
  if (start.empty()) unknown(path, "the file is empty");
  if (start.starts_with(kHdf5)) {
    if (is_picasso(path)) return read_picasso_tracks(path, options, notes);
    if (is_vtkhdf(path)) return read_tracks_vtkhdf(path);
    refuse_foreign_hdf5(path);
    return read_tracks_h5(path);
  }
  if (starts_as_xml(start)) return read_xml(path, start, notes);
  if (is_mtrackj(path)) return read_mtrackj(path, notes);
  if (detail::is_tiff_head(start))
    throw InputError(path.string() + ": this is an image, not tracks; motes track finds the tracks in it");
  if (!detail::is_utf16(start) && start.find('\0') != std::string::npos) refuse_binary(path);
  return read_tracks_csv(path, options, notes);
}

void write_tracks(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image) {
  row_of(path).write(path, tracks, image);
}

std::vector<std::string> lost_in(const std::filesystem::path& path, const TrackSet& tracks) {
  const unsigned keeps = row_of(path).keeps;
  const auto count = [&](const std::vector<PropertyColumn>& columns, unsigned flag) {
    return (keeps & flag) != 0 ? std::size_t{0} : columns.size();
  };
  const auto named = [](const std::vector<std::int64_t>& relatives) {
    return std::any_of(relatives.begin(), relatives.end(), [](auto id) { return id >= 0; });
  };
  const bool divisions = named(tracks.parent), merges = named(tracks.merged_into);
  const bool detections =
      std::any_of(tracks.detection.begin(), tracks.detection.end(), [](auto index) { return index >= 0; });
  std::vector<std::string> lost;
  const auto add = [&](bool held, unsigned flag, const char* what) {
    if (held && (keeps & flag) == 0) lost.emplace_back(what);
  };
  add(tracks.tracks() > 0, kIds, "track numbers");
  add(divisions, kParents, "mothers");
  add(merges, kMerges, "merges");
  if ((keeps & kLinked) != 0 && (divisions || merges)) {
    const detail::TrackLinks links = detail::links_of(tracks);
    const auto odd = [&](std::size_t n, const char* one, const char* many) {
      if (n > 0) lost.push_back(std::to_string(n) + (n == 1 ? one : many));
    };
    odd(links.lost, " mother that ends no earlier than a daughter starts",
        " mothers that end no earlier than a daughter starts");
    if ((keeps & kMerges) != 0)
      odd(links.lost_merges, " merge that starts no later than a track into it ends",
          " merges that start no later than a track into them ends");
  }
  add(has_gaps(tracks), kGaps, "gaps (tracks are cut there)");
  add(tracks.points() > 0, kPositions, "positions within a voxel");
  add(tracks.dt_s.has_value(), kTimes, "times");
  add(tracks.length_unit == "um" && tracks.points() > 0, kUnit, "the unit um");
  add(detections, kDetections, "indices of detections");
  for (const auto& [columns, flag, what] :
       {std::tuple{&tracks.point_properties, unsigned{kPointProperties}, "of points"},
        std::tuple{&tracks.track_properties, unsigned{kTrackProperties}, "of tracks"}}) {
    if (const std::size_t n = count(*columns, flag); n > 0)
      lost.push_back(std::to_string(n) + (n == 1 ? " property " : " properties ") + what);
  }
  return lost;
}

void copy_tracks_h5(const std::filesystem::path& from, const std::filesystem::path& to) {
  read_tracks_h5(from);
  std::error_code error;
  if (std::filesystem::equivalent(from, to, error)) return;
  write_atomically(to, [&](const std::filesystem::path& temporary) {
    std::filesystem::copy_file(from, temporary, std::filesystem::copy_options::overwrite_existing, error);
    if (error) throw ResourceError(to.string() + ": cannot write: " + error.message() + "; check the disk");
  });
}

}  // namespace motes::io
