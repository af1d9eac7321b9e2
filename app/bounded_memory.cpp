/// Moves arrays to scratch files if they, or the memory that detection needs, exceed execution.memory_gb.

#include "app/bounded_memory.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/large_blocks.h>
#include <motes/base/scratch.h>
#include <motes/io/vtk_tracks.h>

namespace motes::app {
namespace {

/// Memory for detection in a frame, in bytes: its voxels, their copy without hot voxels, and the response
/// (tracking/detect/filter/response.h).
double detection_bytes(const io::SeriesInfo& info) {
  const double voxels = static_cast<double>(info.shape.nz) * static_cast<double>(info.shape.ny) *
                        static_cast<double>(info.shape.nx);
  return voxels * (2 * static_cast<double>(io::bytes_per_voxel(info.type)) + 2 * sizeof(float));
}

std::filesystem::path scratch_folder(const std::filesystem::path& folder) {
  const char* given = std::getenv("TMPDIR");
  if (given != nullptr && *given != '\0') return given;
  std::error_code ignored;
  std::filesystem::path there = std::filesystem::absolute(folder, ignored);
  while (!std::filesystem::is_directory(there, ignored) && there.has_relative_path())
    there = there.parent_path();
  return there;
}

}  // namespace

std::int64_t frames_in_memory(const Config& config, const io::SeriesInfo& info) {
  if (!config.execution.memory_gb) return std::numeric_limits<std::int64_t>::max();
  // Half is for frames; the other half for maxima, spots, tracks and the program itself.
  return static_cast<std::int64_t>(
      std::min(*config.execution.memory_gb * 1e9 / 2 / std::max(1.0, detection_bytes(info)), 1e6));
}

void bound_arrays(const Config& config, const std::filesystem::path& folder) {
  if (!config.execution.memory_gb) return;
  keep_large_blocks_in_files(scratch_folder(folder),
                             static_cast<std::int64_t>(std::min(*config.execution.memory_gb, 1e9) * 1e9));
}

void require_memory_for_vtk(const Config& config, std::size_t points) {
  constexpr double kBytes = 42;  // per point in tracks.vtp
  const double gigabytes = kBytes * static_cast<double>(points) / 1e9;
  if (!config.execution.memory_gb || !config.output.vtk || !io::has_vtk() ||
      gigabytes <= *config.execution.memory_gb / 4)
    return;
  throw UsageError(
      fmt::format("output.vtk: tracks.vtp of {} points needs {:.2g} GB of memory, more than a quarter of "
                  "execution.memory_gb; set output.vtk: false, or a larger execution.memory_gb",
                  points, gigabytes));
}

void bound_memory(const Config& config, const std::filesystem::path& folder, OpenedInput& input,
                  Console& console) {
  if (!input.source) return;
  const io::SeriesInfo& info = input.source->info();
  if (frames_in_memory(config, info) > 0) return;
  const std::filesystem::path there = scratch_folder(folder);
  const auto scratch =
      std::make_shared<Scratch>(there, static_cast<std::int64_t>(*config.execution.memory_gb * 1e9));
  const double bytes = detection_bytes(info);
  scratch->require_room(bytes, fmt::format("a frame of {} x {} x {} voxels (z, y, x)", info.shape.nz,
                                           info.shape.ny, info.shape.nx));
  console.note(fmt::format("detection in a frame needs up to {:.3g} GB, kept in files in {}", bytes / 1e9,
                           there.string()));
  input.source = io::frames_in_files(std::move(input.source), scratch);
}

}  // namespace motes::app
