#pragma once
/// Real detections with their true tracks, from tables.

#include <cstdint>
#include <string>
#include <vector>

#include <motes/io/tables.h>
#include <motes/tracking/score_tracks.h>

#include "bench/arguments.h"

namespace motes::bench {

/// Every step-th frame, renumbered from 0.
struct RealSeries {
  std::string name;  ///< of the file of detections, without its folder
  std::int32_t step = 1;
  TrackSet truth;
  std::vector<Detections> frames;
};

/// One series for each value of --step (default 1), in units of the tables. `truth`: the table of tracks;
/// --points: that of detections (default: the same). Throws as the readers of tables do.
inline std::vector<RealSeries> real_series(const Arguments& arguments, const std::string& truth) {
  io::TableOptions options;
  options.voxel_um = Vec3{1, 1, 1};
  const std::string points = arguments.text("points").value_or(truth);
  const io::PointTable table = io::read_points_csv(points, options);
  const TrackSet tracks = io::read_tracks_csv(truth, options);
  std::vector<RealSeries> all;
  for (const double every : arguments.numbers("step", {1})) {
    const auto step = static_cast<std::int32_t>(every);
    RealSeries one{points.substr(points.find_last_of('/') + 1), step, tracking::keep_every(tracks, step), {}};
    for (const Detections& frame : table.frames) {
      if (frame.frame % step != 0) continue;
      one.frames.push_back(frame);
      one.frames.back().frame /= step;
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace motes::bench
