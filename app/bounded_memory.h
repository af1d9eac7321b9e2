#pragma once
/// execution.memory_gb: bounds the memory of a run.

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "app/config.h"
#include "app/console.h"
#include "app/input.h"

namespace motes::app {

/// How many frames of the series may be detected side by side within execution.memory_gb, by their size; 0
/// where not even one fits.
std::int64_t frames_in_memory(const Config& config, const io::SeriesInfo& info);

/// From now on large arrays (base/large_blocks.h) that exceed execution.memory_gb together are files, where
/// bound_memory has them: tables, detections, links, tracks.
void bound_arrays(const Config& config, const std::filesystem::path& folder);

/// VTK keeps its arrays in memory. Throws UsageError where those of so many points take more than a quarter
/// of execution.memory_gb.
void require_memory_for_vtk(const Config& config, std::size_t points);

/// Where not even one frame fits into execution.memory_gb, frames are read into files from now on: in TMPDIR,
/// else in `folder`, or the part of its path that there is. Throws UsageError and ResourceError as Scratch
/// does, ResourceError also where the disk has no room for a frame's detection.
void bound_memory(const Config& config, const std::filesystem::path& folder, OpenedInput& input,
                  Console& console);

}  // namespace motes::app
