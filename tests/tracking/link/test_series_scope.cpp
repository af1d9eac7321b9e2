/// The choice between linking as a series and frame to frame.

#include <catch2/catch.hpp>

#include <motes/tracking/series_links.h>

namespace motes::tracking {
namespace {

GateEstimate estimate(double ratio, double partners) {
  GateEstimate out;
  out.spacing_um = 2;
  out.displacement_um = 2 * ratio;
  out.partners = partners;
  return out;
}

TEST_CASE("long series are linked frame to frame only if that is as good") {
  // Any machine that runs this has memory for two million detections.
  constexpr std::size_t kFew = 1'000'000, kMany = 2'000'000, kTooMany = 200'000'000;
  CHECK(series_pays(kFew, estimate(0.05, 1)));
  CHECK(series_pays(kFew, std::nullopt));
  CHECK_FALSE(series_pays(kMany, estimate(0.05, 1)));
  CHECK(series_pays(kMany, estimate(0.3, 1)));
  CHECK(series_pays(kMany, estimate(0.05, 0.95)));
  CHECK_FALSE(series_pays(kTooMany, estimate(0.3, 1)));
}

}  // namespace
}  // namespace motes::tracking
