#pragma once
/// What was found in one frame. Structure of arrays; all arrays have the same length.
/// Truth identities never live in here.

#include <cstdint>
#include <vector>

#include <motes/tracking/properties.h>

namespace motes {

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

}  // namespace motes
