#pragma once
/// execution.memory_gb: bounds the memory of a run.

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "app/console.h"
#include "app/options/config.h"
#include "app/run/input.h"

namespace motes::app {

/// The number of frames of the series that may be searched in parallel within execution.memory_gb; 0 if not
/// even one fits, the largest integer if there is no limit.
std::int64_t frames_in_memory(const Config& config, const io::SeriesInfo& info);

/// From now on, large arrays (base/large_blocks.h: tables, detections, links, tracks) are stored in files if
/// together they exceed execution.memory_gb. The folder is that of bound_memory.
void bound_arrays(const Config& config, const std::filesystem::path& folder);

/// VTK keeps its arrays in memory. Throws UsageError if those of this many points take more than a quarter
/// of execution.memory_gb.
void require_memory_for_vtk(const Config& config, std::size_t points);

/// If not even one frame fits into execution.memory_gb, frames are read into files from now on: in TMPDIR,
/// else in `folder` or its nearest existing parent. Throws UsageError and ResourceError as Scratch does, and
/// ResourceError if the disk has no room for the detection of a frame.
void bound_memory(const Config& config, const std::filesystem::path& folder, OpenedInput& input,
                  Console& console);

}  // namespace motes::app
