#pragma once
/// MicroManager's metadata.txt beside its images.

#include <filesystem>
#include <optional>

#include "io/images/calibration.h"

namespace motes::io::detail {

/// Pixel size, plane distance and interval of the summary; none where the folder has no such file. Throws
/// InputError where it is not JSON. An interval of 0 (as fast as the camera goes) is not known.
std::optional<Calibration> read_micromanager(const std::filesystem::path& folder);

}  // namespace motes::io::detail
