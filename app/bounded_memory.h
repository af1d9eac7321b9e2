#pragma once
/// execution.memory_gb: bounds the memory of detection.

#include <cstdint>
#include <filesystem>

#include "app/config.h"
#include "app/console.h"
#include "app/input.h"

namespace motes::app {

/// How many frames of the series may be detected side by side within execution.memory_gb, by their size; 0
/// where not even one fits.
std::int64_t frames_in_memory(const Config& config, const io::SeriesInfo& info);

/// Where not even one frame fits into execution.memory_gb, frames are read into files from now on: in TMPDIR,
/// else in `folder`, or the part of its path that there is. Throws UsageError and ResourceError as Scratch
/// does, ResourceError also where the disk has no room for a frame's detection.
void bound_memory(const Config& config, const std::filesystem::path& folder, OpenedInput& input,
                  Console& console);

}  // namespace motes::app
