/// The gate: the lengths that are accepted by all functions that take one.

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>
#include <motes/tracking/candidates.h>
#include <motes/tracking/gate.h>
#include <motes/tracking/series_links.h>

using namespace motes;
using namespace motes::tracking;

TEST_CASE("A gate is not bounded unless a length is given") {
  CHECK_FALSE(Gate().bounded());
  CHECK(to_string(Gate().source) == "none");
  const Gate given = 2.5;
  CHECK(given.bounded());
  CHECK(given.um == 2.5);
  CHECK(to_string(given.source) == "linking.gate_um");
  CHECK_NOTHROW(require_length(given));
}

TEST_CASE("Gates that are not lengths are rejected by all functions that take one") {
  Detections a;
  a.x_um = a.y_um = a.z_um = {0, 1};
  const std::vector<Detections> frames{a, a, a};
  for (const double um : {0.0, -1.0, std::nan(""), 1e-300, 1e300, -std::numeric_limits<double>::infinity()}) {
    INFO(um);
    CHECK_THROWS_AS(require_length(um), UsageError);
    CHECK_THROWS_AS(build_candidates({1}, a, a, {um}), UsageError);
    SeriesOptions options;
    options.gate = um;
    CHECK_THROWS_AS(link_series({1}, frames, options), UsageError);
  }
  CHECK_THROWS_AS(build_candidates({1}, a, a, {}), UsageError);  // linking by pairs needs a bound
  CHECK_NOTHROW(link_series({1}, frames, {}));                   // linking as a series does not
}
