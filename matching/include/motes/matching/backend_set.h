#pragma once
/// The back ends of a solver or an initialiser.

#include <string_view>

#include <motes/base/execution.h>

namespace motes::matching {

/// A set of back ends.
struct BackendSet {
  bool cpu = false, cuda = false;
  constexpr bool contains(Backend backend) const {
    return backend == Backend::cpu ? cpu : backend == Backend::cuda && cuda;
  }
};
/// "cpu", "cuda" or "cpu, cuda".
constexpr std::string_view to_string(BackendSet backends) {
  return backends.cpu && backends.cuda ? "cpu, cuda" : backends.cuda ? "cuda" : "cpu";
}

}  // namespace motes::matching
