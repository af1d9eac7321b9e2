#include <algorithm>
#include <cstdint>

#include <motes/base/system/memory.h>
#include <motes/tracking/series_links.h>

namespace motes::tracking {
namespace {

/// A series of up to this many detections takes seconds.
constexpr std::size_t kFew = 1'000'000;
/// A series of up to this many takes half an hour, in blocks.
constexpr std::size_t kMost = 100'000'000;
/// Linking by pairs suffices if particles move less than kEasyRatio spacings, and at most this share is
/// without a partner.
constexpr double kEasyRatio = 0.2, kMissingPartners = 0.01;
/// Bytes of memory for each detection: of a block with its margins and candidate links, and of the series.
constexpr std::int64_t kBytesOfBlock = 1500, kBytesOfSeries = 400;
constexpr std::int64_t kMostOfBlock = 4'000'000;

}  // namespace

bool series_pays(std::size_t detections, const std::optional<GateEstimate>& estimate) {
  if (detections <= kFew) return true;
  const bool easy = estimate && estimate->ratio() <= kEasyRatio && estimate->partners >= 1 - kMissingPartners;
  const auto all = static_cast<std::int64_t>(detections);
  return !easy && detections <= kMost &&
         std::min(all, kMostOfBlock) * kBytesOfBlock + all * kBytesOfSeries <= system::physical_memory() / 2;
}

}  // namespace motes::tracking
