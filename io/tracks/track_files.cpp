#include <algorithm>
#include <string_view>

#include <motes/base/errors.h>
#include <motes/io/challenge_xml.h>
#include <motes/io/track_files.h>
#include <motes/io/tracks_h5.h>
#include <motes/io/vtk_tracks.h>

#include "io/files/text.h"

namespace motes::io {
namespace {

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

bool starts_as_xml(std::string_view start) {
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  const auto first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '<';
}

TrackSet read_xml(const std::filesystem::path& path, std::string_view start) {
  if (start.find("<VTKFile") != std::string_view::npos) {
    if (start.find("PolyData") == std::string_view::npos) unknown(path, "this VTK file holds no PolyData");
    return read_tracks_vtp(path);
  }
  if (is_challenge_xml(path)) return read_challenge_xml(path);
  unknown(path, "this XML is of no known kind");
}

}  // namespace

const std::vector<TrackFormat>& track_formats() {
  static const std::vector<TrackFormat> formats{{"motes HDF5", ".h5", true, true},
                                                {"CSV", ".csv", true, true},
                                                {"challenge XML", ".xml", true, true},
                                                {"VTK PolyData", ".vtp", true, true},
                                                {"VTKHDF over time", ".vtkhdf", true, true}};
  return formats;
}

TrackSet read_tracks(const std::filesystem::path& path, const TableOptions& options) {
  constexpr std::size_t kStart = 4096;
  constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
  const std::string start = detail::read_file_start(path, kStart);
  if (start.empty()) unknown(path, "the file is empty");
  if (start.starts_with(kHdf5)) return is_vtkhdf(path) ? read_tracks_vtkhdf(path) : read_tracks_h5(path);
  if (starts_as_xml(start)) return read_xml(path, start);
  const bool gzip = start.starts_with("\x1f\x8b");
  if (!gzip && start.find('\0') != std::string::npos) unknown(path, "this binary file is of no known kind");
  return read_tracks_csv(path, options);
}

void write_tracks(const std::filesystem::path& path, const TrackSet& tracks) {
  const std::string extension = detail::lower_case(path.extension().string());
  if (extension == ".h5" || extension == ".hdf5") return write_tracks_h5(path, tracks);
  if (extension == ".csv") return write_tracks_csv(path, tracks);
  if (extension == ".xml") return write_challenge_xml(path, tracks);
  if (extension == ".vtp") return write_tracks_vtp(path, tracks);
  if (extension == ".vtkhdf") return write_tracks_vtkhdf(path, tracks);
  throw UsageError(path.string() + ": the extension '" + extension + "' names no track format; use one of " +
                   known_formats(", ", &TrackFormat::writes));
}

}  // namespace motes::io
