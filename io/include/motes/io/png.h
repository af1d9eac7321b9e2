#pragma once
/// Writes PNG files.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace motes::io {

/// An image with rows from the top.
struct RgbImage {
  int width = 0, height = 0;
  std::vector<std::uint8_t> bytes;  ///< [height * width * 3] red, green, blue
};

/// What a picture shows mostly; it decides how the file is compressed.
enum class PictureOf { images, lines };

/// Throws ResourceError for errors of the disk.
void write_png(const std::filesystem::path& path, const RgbImage& picture,
               PictureOf contents = PictureOf::images);

}  // namespace motes::io
