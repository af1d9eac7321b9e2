#include <motes/base/system/memory.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {
namespace {

/// Up to so many detections a series takes seconds.
constexpr std::size_t kFew = 1'000'000;
/// Up to so many it takes minutes, as one assignment.
constexpr std::size_t kMost = 10'000'000;
/// Pairs will do where particles move less than this part of their spacing, and hardly one is missed.
constexpr double kEasyRatio = 0.2, kMissingPartners = 0.01;
/// Memory for each detection, its candidate links included.
constexpr std::int64_t kBytes = 1500;

}  // namespace

bool series_pays(std::size_t detections, const std::optional<GateEstimate>& estimate) {
  if (detections <= kFew) return true;
  const bool easy = estimate && estimate->ratio() <= kEasyRatio && estimate->partners >= 1 - kMissingPartners;
  return !easy && detections <= kMost &&
         static_cast<std::int64_t>(detections) <= system::physical_memory() / 2 / kBytes;
}

}  // namespace motes::tracking
