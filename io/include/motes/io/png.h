#pragma once
/// PNG files, through VTK.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace motes::io {

/// Pixels in rows from the top.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes;  ///< [height * width * 3]
};

/// Throws ResourceError where the disk refuses.
void write_png(const std::filesystem::path& path, const RgbImage& picture);

}  // namespace motes::io
