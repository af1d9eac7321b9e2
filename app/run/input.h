#pragma once
/// The input of a command: a volume series, or points that were detected before.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/io/frame_source.h>
#include <motes/io/tables.h>
#include <motes/tracking/track_set.h>

#include "app/console.h"
#include "app/options/config.h"

namespace motes::app {

struct OpenedInput {
  std::string path;
  std::unique_ptr<io::FrameSource> source;  ///< a volume series; null: points
  io::PointTable points;
  std::string point_format;  ///< "table", or the track format whose points these are
};

/// Opens input.path; the format is recognised by content. Throws UsageError if input.path is empty, and as
/// io's readers do.
OpenedInput open_input(const Config& config);

io::TableOptions table_options(const Config& config);

/// Throws UsageError for URLs and for "-" (standard input).
void refuse_remote(const std::string& path);

/// Tracks of any readable format. Lengths in px are converted to um if input.unit or input.voxel_um is given,
/// and input.dt_s overrides the file's interval.
TrackSet read_tracks_scaled(const std::string& path, const Config& config,
                            std::vector<std::string>* notes = nullptr);

/// The same for tracks in memory; `path` is their file.
void scale_tracks(TrackSet& tracks, const std::string& path, const Config& config);

/// The points of tracks, frame by frame from the first to the last; identities are dropped.
io::PointTable points_of_tracks(const TrackSet& tracks);

/// The input as lines for users: axes, voxel size, frames, type, channel, units and their sources.
std::vector<std::string> describe(const io::SeriesInfo& info);
std::vector<std::string> describe(const io::PointTable& points, const std::string& path,
                                  const std::string& format);
std::vector<std::string> describe(const OpenedInput& input);

nlohmann::ordered_json to_json(const io::SeriesInfo& info);
nlohmann::ordered_json to_json(const io::PointTable& points, const std::string& path,
                               const std::string& format);
nlohmann::ordered_json to_json(const OpenedInput& input);

}  // namespace motes::app
