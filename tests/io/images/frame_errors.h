#pragma once
/// The exception of an action, for tests of error messages.

#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include <motes/base/errors.h>

namespace motes::testing {

/// The message of the E that `action` throws; fails the test if it throws none.
template <typename E>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const E& error) {
    const std::string what = error.what();
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  FAIL("nothing of that type was thrown");
  return {};
}

}  // namespace motes::testing
