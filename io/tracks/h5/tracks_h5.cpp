// The schema is in docs/formats.md: CSR arrays, as in the types, under /tracks and /detections. In names of
// properties, characters with a meaning in HDF5 ('/' and a lone '.') are percent-encoded.

#include <algorithm>
#include <cmath>
#include <limits>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/tracks_h5.h>
#include <motes/version.h>

#include "io/files/text.h"
#include "io/hdf5/h5.h"
#include "io/tracks/h5/detections_group.h"

namespace motes::io {
namespace {

using detail::read_properties;
using detail::write_properties;
using detail::h5::Reader;
using detail::h5::Writer;

constexpr std::int64_t kTracksVersion = 1;
constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

void write_tracks_group(Writer& file, const TrackSet& tracks) {
  file.group("/tracks");
  file.dataset("/tracks/track_offsets", tracks.track_offsets);
  file.dataset("/tracks/track_id", tracks.track_id);
  if (!tracks.parent.empty()) file.dataset("/tracks/parent", tracks.parent);
  if (!tracks.merged_into.empty()) file.dataset("/tracks/merged_into", tracks.merged_into);
  file.dataset("/tracks/frame", tracks.frame);
  file.dataset("/tracks/detection", tracks.detection);
  file.dataset("/tracks/time_s", tracks.time_s);
  file.dataset("/tracks/x_um", tracks.x_um);
  file.dataset("/tracks/y_um", tracks.y_um);
  file.dataset("/tracks/z_um", tracks.z_um);
  file.group("/tracks/properties");
  write_properties(file, "/tracks/properties/points", tracks.point_properties);
  write_properties(file, "/tracks/properties/tracks", tracks.track_properties);
}

void write_attributes(Writer& file, const TrackSet& tracks, const TracksH5Extras& extras) {
  file.attribute("motes_version", std::string(MOTES_VERSION));
  file.attribute("format_version", kTracksVersion);
  if (tracks.dt_s) file.attribute("dt_s", std::vector<double>{*tracks.dt_s});
  file.attribute("voxel_um", std::vector<double>{extras.voxel_um.z, extras.voxel_um.y, extras.voxel_um.x});
  file.attribute("units", tracks.length_unit);
  file.attribute("source", extras.source);
  file.attribute("configuration", extras.configuration);
}

void check_offsets(const Reader& file, const TrackSet& tracks) {
  const auto& offsets = tracks.track_offsets;
  if (offsets.empty() || offsets.size() - 1 != tracks.track_id.size()) {
    file.fail("/tracks/track_offsets must be one longer than /tracks/track_id");
  }
  if (offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(tracks.frame.size()) ||
      !std::is_sorted(offsets.begin(), offsets.end())) {
    file.fail("/tracks/track_offsets must rise from 0 to the number of points");
  }
}

void check_points(const Reader& file, const TrackSet& tracks) {
  const auto finite = [](double value) { return std::isfinite(value); };
  for (const auto* axis : {&tracks.x_um, &tracks.y_um, &tracks.z_um, &tracks.time_s}) {
    if (axis->size() != tracks.points()) file.fail("the arrays of /tracks differ in length");
    if (!std::all_of(axis->begin(), axis->end(), finite))
      file.fail("/tracks has coordinates that are not finite");
  }
  if (tracks.detection.size() != tracks.points()) file.fail("the arrays of /tracks differ in length");
  if (!tracks.parent.empty() && tracks.parent.size() != tracks.tracks()) {
    file.fail("/tracks/parent and /tracks/track_id differ in length");
  }
  if (!tracks.merged_into.empty() && tracks.merged_into.size() != tracks.tracks()) {
    file.fail("/tracks/merged_into and /tracks/track_id differ in length");
  }
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto begin = tracks.frame.begin() + tracks.track_offsets[t];
    const auto end = tracks.frame.begin() + tracks.track_offsets[t + 1];
    const bool rising = std::adjacent_find(begin, end, std::greater_equal<>()) == end;
    if (!rising || (begin != end && *begin < 0)) {
      file.fail("the frames of track " + std::to_string(tracks.track_id[t]) + " must rise, from 0 or later");
    }
  }
}

void check_identities(const Reader& file, const TrackSet& tracks) {
  std::vector<std::int64_t> sorted = tracks.track_id;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) file.fail("/tracks/track_id has " + std::to_string(*twice) + " twice");
}

}  // namespace

void write_tracks_h5(const std::filesystem::path& path, const TrackSet& tracks,
                     const TracksH5Extras& extras) {
  write_atomically(path, [&](const std::filesystem::path& temporary) {
    Writer file(temporary, path.string());
    write_attributes(file, tracks, extras);
    write_tracks_group(file, tracks);
    if (extras.detections != nullptr) detail::write_detections_group(file, *extras.detections, true);
    file.close();
  });
}

TrackSet read_tracks_h5(const std::filesystem::path& path) {
  if (!detail::read_file_start(path, kSignature.size()).starts_with(kSignature)) {
    throw InputError(path.string() +
                     ": this is not an HDF5 file (its first bytes are wrong at byte 0); check the path");
  }
  const Reader file(path);
  if (!file.has("/tracks"))
    file.fail("there is no group /tracks: this is not a track file, or it is damaged");
  if (const auto version = file.number_attribute("format_version"); version && *version > kTracksVersion) {
    throw InputError(path.string() + ": written in a newer format version; read it with a newer motes");
  }
  TrackSet tracks;
  tracks.track_offsets = file.int64s("/tracks/track_offsets");
  tracks.track_id = file.int64s("/tracks/track_id");
  tracks.frame = file.int32s("/tracks/frame");
  check_offsets(file, tracks);
  if (file.has("/tracks/parent")) tracks.parent = file.int64s("/tracks/parent");
  if (file.has("/tracks/merged_into")) tracks.merged_into = file.int64s("/tracks/merged_into");
  tracks.detection = file.int64s("/tracks/detection");
  tracks.time_s = file.doubles("/tracks/time_s");
  tracks.x_um = file.doubles("/tracks/x_um");
  tracks.y_um = file.doubles("/tracks/y_um");
  tracks.z_um = file.doubles("/tracks/z_um");
  check_points(file, tracks);
  check_identities(file, tracks);
  tracks.point_properties = read_properties(file, "/tracks/properties/points", tracks.points());
  tracks.track_properties = read_properties(file, "/tracks/properties/tracks", tracks.tracks());
  tracks.dt_s = file.number_attribute("dt_s");
  if (tracks.dt_s && !(*tracks.dt_s > 0 && std::isfinite(*tracks.dt_s)))
    file.fail("dt_s must be a positive number");
  tracks.length_unit = file.text_attribute("units").value_or("um");
  if (tracks.length_unit != "um" && tracks.length_unit != "px") file.fail("units must be um or px");
  return tracks;
}

std::optional<TrackedImages> tracked_images(const std::filesystem::path& path) {
  if (!is_tracks_h5(path)) return std::nullopt;
  const Reader file(path);
  const std::vector<double> zyx = file.number_list_attribute("voxel_um", 3);
  const bool known = zyx.size() == 3 && zyx != std::vector<double>{1, 1, 1} &&
                     std::all_of(zyx.begin(), zyx.end(), [](double v) { return v > 0 && std::isfinite(v); });
  if (!known || file.text_attribute("units").value_or("um") != "um") return std::nullopt;
  return TrackedImages{file.text_attribute("source").value_or(""), {zyx[2], zyx[1], zyx[0]}};
}

bool is_tracks_h5(const std::filesystem::path& path) { return detail::h5::holds(path, {"/tracks"}); }

}  // namespace motes::io
