#pragma once
/// The results of an earlier run in the output folder of `motes track`.

#include <filesystem>
#include <vector>

#include "app/options/config.h"
#include "app/run/track_outputs.h"

namespace motes::app {

/// Throws UsageError, naming the first key that differs, if the folder holds the results of a run with other
/// input, detection or linking keys. A run with the same keys may be repeated.
void refuse_other_run(const std::filesystem::path& dir, const Config& config);

/// Removes files that an earlier run wrote and this one does not, so that all files are of one run. Deletes
/// only names that `track` writes.
void remove_earlier_outputs(const std::filesystem::path& dir, const std::vector<WrittenFile>& written);

}  // namespace motes::app
