#include <catch2/catch.hpp>

#include <motes/base/gpu/device.h>

#include "tests/support/skip.h"

using namespace motes;

TEST_CASE("no devices means a reason") {
  const auto report = gpu::list_devices();
  CHECK(report.devices.empty() == !report.why_none.empty());
}

TEST_CASE("devices are described") {
  MOTES_NEED_GPU();
  for (const auto& device : gpu::list_devices().devices) {
    CHECK(device.name != "");
    CHECK(device.compute_major >= 5);
    CHECK(device.memory_bytes > 0);
    CHECK(device.multiprocessors > 0);
  }
}
