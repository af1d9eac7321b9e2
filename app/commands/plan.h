#pragma once
/// The settings that parts of a series must share, determined beforehand; for `plan` and `cluster`.

#include <cstdint>
#include <string>
#include <vector>

#include "app/command.h"

namespace motes::app {

struct Plan {
  Config config;                     ///< everything that detection would estimate from the series is set
  std::vector<std::int32_t> frames;  ///< numbers of the frames to search, at least one
  std::string text;                  ///< the YAML file: sections input, detection and linking
};

/// Opens config.input.path and estimates the settings of detection. Throws UsageError for points, and the
/// errors of open_input.
Plan make_plan(Session& session, Config config);

}  // namespace motes::app
