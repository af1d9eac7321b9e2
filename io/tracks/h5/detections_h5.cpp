/// Reads and writes detections.h5.

#include <algorithm>
#include <cmath>

#include <motes/io/atomic_file.h>
#include <motes/io/detections_h5.h>
#include <motes/version.h>

#include "io/hdf5/h5.h"
#include "io/tracks/h5/detections_group.h"

namespace motes::io {
namespace {

constexpr std::int64_t kFormatVersion = 1;

PointTable read_points(const detail::h5::Reader& file) {
  if (!file.has("/detections"))
    file.fail("there is no group /detections: this is not a table of points, or it is damaged");
  if (const auto version = file.number_attribute("format_version"); version && *version > kFormatVersion)
    file.fail("written in a newer format version; read it with a newer motes");
  PointTable table;
  table.frames = detail::read_detections_group(file);
  table.dt_s = file.number_attribute("dt_s");
  if (table.dt_s && !(*table.dt_s > 0 && std::isfinite(*table.dt_s)))
    file.fail("dt_s must be a positive number");
  table.length_unit = file.text_attribute("units").value_or("um");
  if (table.length_unit != "um" && table.length_unit != "px") file.fail("units must be um or px");
  return table;
}

}  // namespace

void write_detections_h5(const std::filesystem::path& path, const DetectionSeries& series,
                         const DetectionsOrigin& origin) {
  write_atomically(path, [&](const std::filesystem::path& temporary) {
    detail::h5::Writer file(temporary, path.string());
    file.attribute("motes_version", std::string(MOTES_VERSION));
    file.attribute("format_version", kFormatVersion);
    if (series.dt_s) file.attribute("dt_s", std::vector<double>{*series.dt_s});
    file.attribute("voxel_um", std::vector<double>{series.voxel_um.z, series.voxel_um.y, series.voxel_um.x});
    file.attribute("units", series.length_unit);
    file.attribute("source", origin.source);
    file.attribute("configuration", origin.configuration);
    detail::write_detections_group(file, pool_detections(series.frames), false);
    file.close();
  });
}

PointTable read_detections_h5(const std::filesystem::path& path) {
  return read_points(detail::h5::Reader(path));
}

DetectionsPart read_detections_part(const std::filesystem::path& path) {
  const detail::h5::Reader file(path);
  DetectionsPart part;
  part.points = read_points(file);
  const std::vector<double> voxel = file.number_list_attribute("voxel_um", 3);
  if (voxel.empty() || !std::all_of(voxel.begin(), voxel.end(),
                                    [](double length) { return std::isfinite(length) && length > 0; }))
    file.fail("voxel_um must be three positive numbers; write the part again with this motes");
  part.points.voxel_um = {voxel[2], voxel[1], voxel[0]};
  const auto configuration = file.text_attribute("configuration");
  if (!configuration || configuration->empty())
    file.fail("it does not state the settings of its detection; write it with motes detect -o FILE.h5");
  part.configuration = *configuration;
  return part;
}

bool is_detections_h5(const std::filesystem::path& path) {
  return detail::h5::holds(path, {"/detections/frame_offsets"}, {"/tracks"});
}

}  // namespace motes::io
