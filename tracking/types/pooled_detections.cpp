#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include <motes/tracking/pooled_detections.h>

namespace motes {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Pools frames, which it frees unless they are constant.
template <class Frame>
class Pool {
 public:
  explicit Pool(std::span<Frame> frames) {
    for (const Detections& frame : frames) total_ += frame.size();
    out_.frame.reserve(frames.size());
    out_.time_s.reserve(frames.size());
    out_.offsets.reserve(frames.size() + 1);
    for (Frame& frame : frames) add(frame);
    for (std::vector<double>* column : {&out_.radius_um, &out_.intensity, &out_.quality}) {
      const bool known =
          std::any_of(column->begin(), column->end(), [](double value) { return !std::isnan(value); });
      if (known)
        column->resize(total_, kUnknown);
      else
        *column = std::vector<double>();
    }
    for (PropertyColumn& column : out_.properties) column.values.resize(total_, kUnknown);
  }

  PooledDetections take() { return std::move(out_); }

 private:
  using Column = std::conditional_t<std::is_const_v<Frame>, const std::vector<double>, std::vector<double>>;

  void add(Frame& frame) {
    const std::size_t size = frame.size();
    append(frame.x_um, out_.x_um);
    append(frame.y_um, out_.y_um);
    append(frame.z_um, out_.z_um);
    append(frame.radius_um, out_.radius_um);
    append(frame.intensity, out_.intensity);
    append(frame.quality, out_.quality);
    for (std::size_t i = 0; i < frame.properties.size(); ++i)
      append(frame.properties[i].values, out_.properties[place_of(frame.properties[i].name, i)].values);
    if constexpr (!std::is_const_v<Frame>) frame.properties = std::vector<PropertyColumn>();
    out_.frame.push_back(frame.frame);
    out_.time_s.push_back(frame.time_s);
    out_.offsets.push_back(out_.offsets.back() + static_cast<std::int64_t>(size));
  }

  /// Appends the values of a frame, after unknown ones for earlier frames without the column.
  void append(Column& values, std::vector<double>& to) {
    if (values.empty()) return;
    if (to.empty()) to.reserve(total_);
    to.resize(static_cast<std::size_t>(out_.offsets.back()), kUnknown);
    to.insert(to.end(), values.begin(), values.end());
    if constexpr (!std::is_const_v<Frame>) values = std::vector<double>();  // frees them, which {} does not
  }

  /// The place of a property, which is added if it is new; most frames have it at `usual`.
  std::size_t place_of(const std::string& name, std::size_t usual) {
    if (usual < out_.properties.size() && out_.properties[usual].name == name) return usual;
    const auto [found, is_new] = places_.try_emplace(name, out_.properties.size());
    if (is_new) out_.properties.push_back({name, {}});
    return found->second;
  }

  std::size_t total_ = 0;  ///< detections of all frames
  std::map<std::string, std::size_t> places_;
  PooledDetections out_;
};

}  // namespace

PooledDetections pool_detections(std::span<const Detections> frames) {
  return Pool<const Detections>(frames).take();
}

PooledDetections pool_detections(std::vector<Detections>&& frames) {
  PooledDetections out = Pool<Detections>(frames).take();
  frames = std::vector<Detections>();
  return out;
}

}  // namespace motes
