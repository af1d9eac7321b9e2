#pragma once
/// MicroManager's metadata.txt beside its images.

#include <filesystem>
#include <optional>

#include "io/images/calibration.h"

namespace motes::io::detail {

/// Pixel size, plane distance and interval from the summary; none if the folder has no such file. An interval
/// of 0 (as fast as the camera can) counts as unknown. Throws InputError if the file is not JSON.
std::optional<Calibration> read_micromanager(const std::filesystem::path& folder);

}  // namespace motes::io::detail
