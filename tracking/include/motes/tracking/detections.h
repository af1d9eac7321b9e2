#pragma once
/// Detections of a frame and of a series. They never contain true identities.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/geometry.h>
#include <motes/tracking/properties.h>

namespace motes {

/// One frame. Structure of arrays; all arrays have the same length.
struct Detections {
  std::int32_t frame = 0;  ///< frame number in the input's own counting
  double time_s = 0;       ///< as VolumeFrame::time_s
  std::vector<double> x_um, y_um, z_um;
  std::vector<double> radius_um;           ///< NaN where unknown; these three may be empty: unknown for all
  std::vector<double> intensity;           ///< NaN where unknown
  std::vector<double> quality;             ///< detector response, larger is surer; NaN where unknown
  std::vector<PropertyColumn> properties;  ///< further numeric columns of a table

  std::size_t size() const { return x_um.size(); }
  bool empty() const { return x_um.empty(); }
};

/// The detections of all frames, with units: what readers of points return and writers take.
struct DetectionSeries {
  std::vector<Detections> frames;  ///< by rising frame number
  std::string length_unit = "um";  ///< of all lengths; or "px"
  std::optional<double> dt_s;      ///< from one frame number to the next; none: unknown
  Vec3 voxel_um{1, 1, 1};          ///< of the images; 1 where there are none, or it is unknown
};

}  // namespace motes
