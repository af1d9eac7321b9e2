#pragma once
/// Catch2 3 under the names of Catch2 2, which the tests are written with. The build finds this header in
/// place of version 2's where version 3 is installed.

#include <string>

#include <catch2/catch_all.hpp>

using Catch::Approx;

namespace Catch::Matchers {

// Version 3 calls the matcher of strings ContainsSubstring; its Contains is for ranges.
inline auto Contains(const char* part) { return ContainsSubstring(part); }
inline auto Contains(const std::string& part) { return ContainsSubstring(part); }
inline auto Contains(std::string& part) { return ContainsSubstring(part); }
inline auto Contains(std::string&& part) { return ContainsSubstring(part); }

}  // namespace Catch::Matchers

namespace Catch {
using Matchers::Contains;
using Matchers::StartsWith;
}  // namespace Catch
