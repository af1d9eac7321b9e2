#pragma once
/// Axes in file names: which of t, z and c the names in a folder count.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/images/pages/page_layout.h"

namespace motes::io::detail {

/// Files of one plane each, or of one stack. Their names spell out the axes (img_t000_z01_ch0,
/// img_channel000_time000_z000), or are MicroManager's (img_000000000_GFP_000: time, channel, plane), and
/// every combination occurs once.
struct PlaneGrid {
  PageAxes axes;                      ///< T, Z, C with their sizes
  std::vector<std::int64_t> files;    ///< [nt * nz * nc] index of the plane's file, c fastest
  std::vector<std::string> channels;  ///< their names if the files' names contain them
};

/// None if the names do not spell out the axes, or combinations are missing or repeated.
std::optional<PlaneGrid> grid_of_names(const std::vector<std::filesystem::path>& files);

/// The axis (T, Z or C) that the names count, if they spell out exactly one; else 0.
char counted_axis(const std::vector<std::filesystem::path>& files);

}  // namespace motes::io::detail
