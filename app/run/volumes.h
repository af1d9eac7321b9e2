#pragma once
/// Renders the frames of a simulation into files.

#include <filesystem>
#include <string>
#include <vector>

#include <motes/base/execution.h>
#include <motes/tracking/track_set.h>

#include "app/console.h"
#include "app/options/config.h"

namespace motes::app {

struct WrittenVolumes {
  std::vector<std::string> files;  ///< relative to the folder
  double seconds = 0;
  std::string backend;  ///< "cpu" or "cuda"
};

/// Renders all frames of the truth, one at a time, into `folder`/frames. Throws as sim::Renderer and the
/// writers do; after Interrupted no volumes are left.
WrittenVolumes write_volumes(const Execution& execution, const Config& config, const TrackSet& truth,
                             const std::filesystem::path& folder, Console& console);

}  // namespace motes::app
