#pragma once
/// Detections of a frame and of a series. They never say which particle a detection really is.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/geometry.h>
#include <motes/tracking/properties.h>

namespace motes {

/// One frame. Structure of arrays; all arrays have the same length.
struct Detections {
  std::int32_t frame = 0;  ///< frame number as the input counts
  double time_s = 0;       ///< as VolumeFrame::time_s
  std::vector<double> x_um, y_um, z_um;
  std::vector<double> radius_um;  ///< NaN: unknown. This and the next two arrays may be empty: all unknown
  std::vector<double> intensity;  ///< NaN where unknown
  std::vector<double> quality;    ///< detector response, higher for surer spots; NaN: unknown
  std::vector<PropertyColumn> properties;  ///< further numeric columns of a table

  std::size_t size() const { return x_um.size(); }
  bool empty() const { return x_um.empty(); }
};

/// The detections of all frames, with their units.
struct DetectionSeries {
  std::vector<Detections> frames;  ///< in order of frame number
  std::string length_unit = "um";  ///< of all lengths: "um" or "px"
  std::optional<double> dt_s;      ///< time from one frame number to the next; none: unknown
  Vec3 voxel_um{1, 1, 1};          ///< of the images; 1 if there are none or it is unknown
};

}  // namespace motes
