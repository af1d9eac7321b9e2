#include "tracking/detect/size/response_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

#include "tracking/detect/filter/point_response.h"

namespace motes::tracking::detect {
namespace {

constexpr std::size_t kSpots = 60;
constexpr std::size_t kFewest = 5;
constexpr std::array kScales{0.5, 0.63, 0.79, 1.0, 1.26, 1.59, 2.0, 2.52};  // times the width
constexpr std::size_t kFrom = 2;  // first scale considered; maxima at smaller scales are texture

/// The place of the maximum of the parabola through three values at -1, 0 and 1.
double vertex(double left, double middle, double right) {
  return 0.5 * (left - right) / (left - 2 * middle + right);
}

/// ln of the scale of the largest response, in fitted widths; none if it is at an end of the range of scales.
std::optional<double> best_scale(const Source& source, const FittedSpot& spot) {
  std::array<double, kScales.size()> responses{};
  for (std::size_t k = 0; k < kScales.size(); ++k) {
    Place place{};
    std::array<double, 3> sigma{};
    for (std::size_t a = 0; a < 3; ++a) {
      place[a] = source.to_blocks(spot.place[a], a);
      sigma[a] = kScales[k] * spot.sigma[a] / static_cast<double>(source.block[a]);
    }
    responses[k] = response_at(source, place, sigma);
    if (spot.amplitude < 0) responses[k] = -responses[k];
    if (k < kFrom + 1 || responses[k] >= responses[k - 1]) continue;
    const std::size_t m = k - 1;
    if (responses[m] <= responses[m - 1] || responses[m] <= 0) return std::nullopt;
    return std::log(kScales[m]) +
           std::log(kScales[1] / kScales[0]) * vertex(responses[m - 1], responses[m], responses[k]);
  }
  return std::nullopt;
}

}  // namespace

double response_scale(const Execution& execution, const VolumeFrame& frame, const Filter& filter,
                      std::span<const FittedSpot> spots) {
  const Source source = make_source(execution, frame, filter);
  std::vector<FittedSpot> chosen;
  for (const FittedSpot& spot : spots)
    if (spot.good && chosen.size() < kSpots) chosen.push_back(spot);
  std::vector<std::optional<double>> scales(chosen.size());
  parallel_for(thread_count(execution), static_cast<std::int64_t>(chosen.size()), [&](std::int64_t i) {
    scales[static_cast<std::size_t>(i)] = best_scale(source, chosen[static_cast<std::size_t>(i)]);
  });
  std::vector<double> logs;
  for (const auto& scale : scales)
    if (scale) logs.push_back(*scale);
  if (logs.size() < kFewest || 2 * logs.size() < chosen.size()) return 0;
  return std::exp(quantile(logs, 0.5));
}

}  // namespace motes::tracking::detect
