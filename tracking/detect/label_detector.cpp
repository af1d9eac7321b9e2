#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <string>

#include <motes/base/errors.h>
#include <motes/tracking/label_detector.h>

namespace motes::tracking {
namespace {

constexpr double kLargestLabel = 16777216;  // a float represents every whole number up to this

struct Sums {
  double voxels = 0, x = 0, y = 0, z = 0, light = 0;
};

std::string shape_text(const Shape3& s) {
  return "(" + std::to_string(s.nz) + ", " + std::to_string(s.ny) + ", " + std::to_string(s.nx) + ")";
}

template <class T>
void check_label(const VolumeFrame& frame, T value, std::int64_t z, std::int64_t y, std::int64_t x) {
  if constexpr (std::is_floating_point_v<T>) {
    const auto v = static_cast<double>(value);
    if (v >= 0 && v <= kLargestLabel && v == std::floor(v)) return;
    throw InputError("frame " + std::to_string(frame.index) + ": voxel (z, y, x) = " + shape_text({z, y, x}) +
                     " is " + std::to_string(v) + "; a label image holds whole numbers, 0 for background");
  }
}

/// `light(z, y, x)`: the image's value. Runs of one label along x need one look-up.
template <class T, class Light>
std::map<std::int64_t, Sums> sums_of(const VolumeFrame& frame, std::span<const T> voxels,
                                     const Light& light) {
  std::map<std::int64_t, Sums> all;
  const Shape3& s = frame.shape;
  std::size_t i = 0;
  for (std::int64_t z = 0; z < s.nz; ++z)
    for (std::int64_t y = 0; y < s.ny; ++y) {
      T last = 0;
      Sums* sums = nullptr;
      for (std::int64_t x = 0; x < s.nx; ++x, ++i) {
        const T value = voxels[i];
        if (value == T{0}) continue;
        if (sums == nullptr || value != last) {
          check_label(frame, value, z, y, x);
          sums = &all[static_cast<std::int64_t>(value)];
          last = value;
        }
        sums->voxels += 1;
        sums->x += static_cast<double>(x);
        sums->y += static_cast<double>(y);
        sums->z += static_cast<double>(z);
        sums->light += light(i);
      }
    }
  return all;
}

std::map<std::int64_t, Sums> sums_of(const VolumeFrame& labels, const VolumeFrame* image) {
  return visit_voxels(labels.voxels, [&](auto voxels) {
    if (image == nullptr) return sums_of(labels, voxels, [](std::size_t) { return 0.0; });
    return visit_voxels(image->voxels, [&](auto values) {
      return sums_of(labels, voxels, [&](std::size_t i) { return static_cast<double>(values[i]); });
    });
  });
}

}  // namespace

Detections detect_labels(const VolumeFrame& labels, const VolumeFrame* image) {
  if (image != nullptr && !(image->shape == labels.shape))
    throw InputError("frame " + std::to_string(labels.index) +
                     ": the label image has shape (z, y, x) = " + shape_text(labels.shape) + ", the image " +
                     shape_text(image->shape) + "; give labels of the image's own shape");
  const std::map<std::int64_t, Sums> all = sums_of(labels, image);
  const bool flat = labels.shape.nz == 1;
  const Vec3& voxel = labels.voxel_um;
  const double size = voxel.x * voxel.y * (flat ? 1 : voxel.z);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  Detections found;
  found.frame = labels.index;
  found.time_s = labels.time_s;
  PropertyColumn label{"label", {}}, volume{flat ? "area_um2" : "volume_um3", {}}, count{"voxels", {}},
      light{"intensity_sum", {}};
  for (const auto& [number, sums] : all) {
    const double extent = sums.voxels * size;
    found.x_um.push_back(sums.x / sums.voxels * voxel.x);
    found.y_um.push_back(sums.y / sums.voxels * voxel.y);
    found.z_um.push_back(sums.z / sums.voxels * voxel.z);
    found.radius_um.push_back(flat ? std::sqrt(extent / std::numbers::pi)
                                   : std::cbrt(3 * extent / (4 * std::numbers::pi)));
    found.intensity.push_back(image != nullptr ? sums.light / sums.voxels : kUnknown);
    found.quality.push_back(kUnknown);
    label.values.push_back(static_cast<double>(number));
    volume.values.push_back(extent);
    count.values.push_back(sums.voxels);
    light.values.push_back(sums.light);
  }
  found.properties = {label, volume, count};
  if (image != nullptr) found.properties.push_back(light);
  return found;
}

}  // namespace motes::tracking
