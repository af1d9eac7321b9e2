/// Groups points by frame.

#include "io/tracks/point_frames.h"

#include <algorithm>
#include <limits>

#include <motes/base/errors.h>

namespace motes::io::detail {

std::vector<Detections> frames_of_rows(const TrackRows& rows, const std::optional<double>& dt_s,
                                       const std::vector<double>& radius, const std::vector<double>& quality,
                                       const std::string& source) {
  if (rows.size() == 0) return {};
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const auto [low, high] = std::minmax_element(rows.frame.begin(), rows.frame.end());
  const std::int32_t first = *low;
  const std::int64_t count = std::int64_t{*high} - first + 1;
  if (count > kMaxFrameSpan)
    throw InputError(source + ": the frames run from " + std::to_string(first) + " to " +
                     std::to_string(*high) + ", more than 10 million; correct the frame numbers");
  Detections pattern;
  for (const PropertyColumn& column : rows.properties) pattern.properties.push_back({column.name, {}});
  std::vector<Detections> frames(static_cast<std::size_t>(count), pattern);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].frame = first + static_cast<std::int32_t>(i);
    frames[i].time_s = frames[i].frame * dt_s.value_or(1);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Detections& frame = frames[static_cast<std::size_t>(rows.frame[row] - first)];
    if (!rows.time_s.empty()) frame.time_s = rows.time_s[row];
    frame.x_um.push_back(rows.x_um[row]);
    frame.y_um.push_back(rows.y_um[row]);
    frame.z_um.push_back(rows.z_um[row]);
    frame.radius_um.push_back(radius.empty() ? kUnknown : radius[row]);
    frame.intensity.push_back(kUnknown);
    frame.quality.push_back(quality.empty() ? kUnknown : quality[row]);
    for (std::size_t i = 0; i < rows.properties.size(); ++i)
      frame.properties[i].values.push_back(rows.properties[i].values[row]);
  }
  return frames;
}

std::vector<double> take_property(TrackRows& rows, const std::string& name) {
  const auto found = std::find_if(rows.properties.begin(), rows.properties.end(),
                                  [&](const PropertyColumn& column) { return column.name == name; });
  if (found == rows.properties.end()) return {};
  std::vector<double> values = std::move(found->values);
  rows.properties.erase(found);
  return values;
}

}  // namespace motes::io::detail
