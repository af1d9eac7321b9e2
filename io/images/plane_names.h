#pragma once
/// Axes in file names: which of t, z and c the names in a folder count.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/images/page_layout.h"

namespace motes::io::detail {

/// One plane a file: the names count axes that they spell out (img_t000_z01_ch0,
/// img_channel000_time000_z000), or are MicroManager's (img_000000000_GFP_000: time, channel, plane), and
/// every combination is there once.
struct PlaneGrid {
  PageAxes axes;                      ///< T, Z, C with their sizes
  std::vector<std::int64_t> files;    ///< [nt * nz * nc] which file holds the plane, c fastest
  std::vector<std::string> channels;  ///< their names if the files' names contain them
};

/// None where the names do not spell the axes out, or combinations are missing or double.
std::optional<PlaneGrid> grid_of_names(const std::vector<std::filesystem::path>& files);

/// The one axis (T, Z or C) that the names count, where they spell it out; 0: they do not.
char counted_axis(const std::vector<std::filesystem::path>& files);

}  // namespace motes::io::detail
