#pragma once
/// PNG files, through VTK.

#include <filesystem>

#include "io/detail/raster.h"

namespace motes::io::detail {

/// Throws ResourceError where the disk refuses.
void write_png(const std::filesystem::path& path, const Raster& picture);

}  // namespace motes::io::detail
