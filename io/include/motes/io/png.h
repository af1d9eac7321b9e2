#pragma once
/// Writes PNG files with VTK.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace motes::io {

/// An image whose rows run from the top.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes;  ///< [height * width * 3] red, green, blue
};

/// Throws ResourceError for errors of the disk.
void write_png(const std::filesystem::path& path, const RgbImage& picture);

}  // namespace motes::io
