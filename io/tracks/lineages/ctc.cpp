/// Reads tracks from label masks and their table.

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/ctc.h>
#include <motes/io/frame_source.h>

#include "io/files/text.h"
#include "io/tracks/track_rows.h"

namespace motes::io {
namespace {

namespace fs = std::filesystem;

fs::path table_of(const fs::path& folder) {
  std::error_code ignored;
  for (const char* name : {"res_track.txt", "man_track.txt"})
    if (fs::is_regular_file(folder / name, ignored)) return folder / name;
  return {};
}

/// The mask files by frame: mask000.tif or man_track000.tif.
std::map<std::int32_t, fs::path> mask_files(const fs::path& folder) {
  std::map<std::int32_t, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().stem().string();
    const std::string extension = detail::lower_case(entry->path().extension().string());
    const std::size_t digit = name.find_first_of("0123456789");
    if ((extension != ".tif" && extension != ".tiff") || digit == std::string::npos) continue;
    const std::string base = name.substr(0, digit);
    const auto number = detail::parse_integer(std::string_view(name).substr(digit));
    if ((base != "mask" && base != "man_track") || !number || *number < 0 || *number > 10'000'000) continue;
    files[static_cast<std::int32_t>(*number)] = entry->path();
  }
  return files;
}

/// A line of the table: frames first..last; mother 0: none.
struct Line {
  std::int64_t first, last, mother;
};

std::map<std::int64_t, Line> read_table(const fs::path& path) {
  std::map<std::int64_t, Line> lines;
  std::istringstream text(detail::read_whole_file(path));
  std::string line;
  for (std::int64_t number = 1; std::getline(text, line); ++number) {
    if (detail::trimmed(line).empty()) continue;
    std::istringstream fields(line);
    std::int64_t label = 0;
    Line row{};
    if (!(fields >> label >> row.first >> row.last >> row.mother) || label <= 0 || row.first < 0 ||
        row.last < row.first || row.mother < 0)
      throw InputError(
          fmt::format("{}:{}: needs four numbers: label, first frame, last frame, parent (0 none)",
                      path.string(), number));
    if (!lines.emplace(label, row).second)
      throw InputError(
          fmt::format("{}:{}: label {} occurs twice; correct the table", path.string(), number, label));
  }
  return lines;
}

struct Sum {
  double x = 0, y = 0, z = 0;
  std::int64_t voxels = 0;
};

/// Sums for the centroids of all labels of a mask, in voxels. O(voxels).
std::map<std::int64_t, Sum> centroids(const VolumeFrame& frame) {
  std::map<std::int64_t, Sum> sums;
  std::visit(
      [&](const auto& voxels) {
        std::size_t i = 0;
        for (std::int64_t z = 0; z < frame.shape.nz; ++z)
          for (std::int64_t y = 0; y < frame.shape.ny; ++y)
            for (std::int64_t x = 0; x < frame.shape.nx; ++x, ++i) {
              if (voxels[i] == 0) continue;
              Sum& sum = sums[static_cast<std::int64_t>(voxels[i])];
              sum.x += static_cast<double>(x);
              sum.y += static_cast<double>(y);
              sum.z += static_cast<double>(z);
              ++sum.voxels;
            }
      },
      frame.voxels);
  return sums;
}

}  // namespace

bool is_ctc(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && !table_of(path).empty();
}

namespace {

/// The points of all masks, collected mask by mask.
struct MaskPoints {
  explicit MaskPoints(const std::map<std::int64_t, Line>& of) : table(of) {}

  const std::map<std::int64_t, Line>& table;
  detail::TrackRows rows;
  std::int64_t unlisted = 0;    ///< labels in frames that the table does not state for them
  std::set<std::int64_t> seen;  ///< labels of the table that some mask has
  std::optional<Shape3> shape;  ///< shape of the masks so far

  void add(std::int32_t t, const fs::path& file) {
    FrameOptions options;
    options.axes = "ZYX";
    const VolumeFrame frame = open_frames(file, options)->read(0);
    if (shape && frame.shape != *shape)
      throw InputError(fmt::format(
          "{}: is {} x {} x {} voxels, the earlier masks {} x {} x {}; all must have the same shape",
          file.string(), frame.shape.nz, frame.shape.ny, frame.shape.nx, shape->nz, shape->ny, shape->nx));
    shape = frame.shape;
    for (const auto& [label, sum] : centroids(frame)) {
      const auto line = table.find(label);
      if (line == table.end() || t < line->second.first || t > line->second.last) {
        ++unlisted;
        continue;
      }
      seen.insert(label);
      const auto n = static_cast<double>(sum.voxels);
      rows.track_id.push_back(label);
      rows.parent.push_back(line->second.mother == 0 ? -1 : line->second.mother);
      rows.frame.push_back(t);
      rows.x_um.push_back(sum.x / n);
      rows.y_um.push_back(sum.y / n);
      rows.z_um.push_back(sum.z / n);
    }
  }
};

}  // namespace

TrackSet read_ctc(const fs::path& path, std::vector<std::string>* notes) {
  const fs::path table_path = table_of(path);
  if (table_path.empty())
    throw InputError(path.string() +
                     ": has no res_track.txt or man_track.txt; give a folder of the challenge");
  const std::map<std::int64_t, Line> table = read_table(table_path);
  MaskPoints points(table);
  for (const auto& [t, file] : mask_files(path)) points.add(t, file);
  for (const auto& [label, line] : table)
    if (!points.seen.contains(label))
      throw InputError(fmt::format("{}: label {} of {} is in no mask; copy the folder again", path.string(),
                                   label, table_path.filename().string()));
  if (notes != nullptr && points.unlisted > 0)
    notes->push_back(fmt::format("{} labels are in no line of {} and are left out", points.unlisted,
                                 table_path.filename().string()));
  detail::TrackRows& rows = points.rows;
  if (std::all_of(rows.parent.begin(), rows.parent.end(), [](auto p) { return p < 0; })) rows.parent.clear();
  TrackSet tracks = detail::group_tracks(std::move(rows), [&](std::size_t) { return path.string(); });
  tracks.length_unit = "px";
  return tracks;
}

}  // namespace motes::io
