#pragma once
/// Trajectories in CSR form: the points of track t are [track_offsets[t], track_offsets[t+1]),
/// ordered by strictly increasing frame.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/properties.h>

namespace motes {

struct TrackSet {
  std::vector<std::int64_t> track_offsets{0};  ///< [tracks + 1]
  std::vector<std::int64_t> track_id;          ///< [tracks] the particle's number in files
  std::vector<std::int64_t> parent;  ///< [tracks] track_id of the mother, -1 none; empty: no divisions known
  /// [tracks] track_id of the particle that this one and another become, -1 none; empty: no merges known
  std::vector<std::int64_t> merged_into;

  std::vector<std::int32_t> frame;               ///< [points]
  std::vector<std::int64_t> detection;           ///< [points] index within the frame's detections; -1 none
  std::vector<double> time_s;                    ///< [points]; the frame number if dt_s is unknown
  std::vector<double> x_um, y_um, z_um;          ///< [points]
  std::vector<PropertyColumn> point_properties;  ///< each [points]
  std::vector<PropertyColumn> track_properties;  ///< each [tracks]

  std::string length_unit = "um";  ///< "um", or "px" if the input's unit is unknown
  std::optional<double> dt_s;      ///< frame interval; none: unknown

  std::size_t tracks() const { return track_id.size(); }
  std::size_t points() const { return frame.size(); }
};

}  // namespace motes
