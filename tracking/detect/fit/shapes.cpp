/// Images of particles have one shape, that of the microscope's image of a point or that of the particles.
/// Maxima of random fields are ellipses of many shapes, typically 1.5 times as long as wide, and parts of
/// fibres are longer. Noise makes a spot of any shape look elongated: by how much follows from the standard
/// errors of the positions, since those of widths are about as large (measured on spots of SNR 2 to 10). Long
/// particles, such as rods, are all elongated alike.

#include "tracking/detect/fit/shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <motes/base/quantile.h>

#include "tracking/detect/scan.h"

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kFewest = 5;        // fitted spots,
constexpr double kFewestShare = 1.0 / 3;  // and their share of all: in crowds neighbours spoil fits
constexpr double kElongated = 1.3;        // elongation without noise, from which on shapes differ
constexpr double kVeryLong = 3;           // from this elongation on, shapes need not differ
constexpr double kAlike = 0.85;  // least ratio of the logarithms of quartile and median of alike spots
constexpr std::array kOfNoise{1.9, 3.3};  // median elongation by noise in 2D and 3D: exp of this many errors

const std::vector<double>* column(const Detections& found, std::string_view name) {
  for (const auto& property : found.properties)
    if (property.name == name) return &property.values;
  return nullptr;
}

std::string rounded(double value) {
  const std::string text = std::to_string(std::round(10 * value) / 10);
  return text.substr(0, text.find('.') + 2);
}

}  // namespace

std::optional<std::string> doubt_of_shapes(const DetectionOptions& options, int dimensions,
                                           const Detections& found) {
  if (!by_evidence(options) || options.false_positives_per_frame || dimensions < 2) return std::nullopt;
  const auto *elongation = column(found, "elongation"), *error_x = column(found, "error_x_um"),
             *error_y = column(found, "error_y_um");
  if (elongation == nullptr || error_x == nullptr || error_y == nullptr) return std::nullopt;
  const double sigma = options.radius_um.x / std::sqrt(static_cast<double>(dimensions));
  std::vector<double> shapes, errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = ((*error_x)[i] + (*error_y)[i]) / (2 * sigma);
    if (!std::isfinite((*elongation)[i]) || !std::isfinite(error)) continue;
    shapes.push_back(std::log(std::max(1.0, (*elongation)[i])));
    errors.push_back(error);
  }
  if (shapes.size() < kFewest ||
      static_cast<double>(shapes.size()) < kFewestShare * static_cast<double>(found.size()))
    return std::nullopt;
  const double typical = quantile(shapes, 0.5), low = quantile(shapes, 0.25);
  const double noise = kOfNoise[dimensions > 2 ? 1 : 0] * quantile(errors, 0.5);
  if (typical < std::hypot(std::log(kElongated), noise)) return std::nullopt;
  if (low > kAlike * typical && typical < std::log(kVeryLong)) return std::nullopt;
  return "the spots differ in shape: half of " + std::to_string(shapes.size()) + " are at least " +
         rounded(std::exp(typical)) + " times as long as wide (noise explains " + rounded(std::exp(noise)) +
         "), so many may be lumps of a background, parts of fibres or clusters; look at them, and set "
         "detection.radius_um or detection.threshold";
}

}  // namespace motes::tracking::detect
