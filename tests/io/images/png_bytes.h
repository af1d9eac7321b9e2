#pragma once
/// Small PNGs made chunk by chunk, independently of libpng.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <zlib.h>

namespace motes::testing {

constexpr int kGrey = 0, kColour = 2, kPalette = 3, kGreyAlpha = 4, kColourAlpha = 6;

struct PngSpec {
  int width = 13, height = 11;
  int depth = 8, colour = kGrey;
  bool interlaced = false;
  std::string palette;       ///< red, green and blue of each entry
  std::string transparency;  ///< contents of a chunk tRNS
  /// Sample `channel` of a pixel, below 2^depth.
  std::function<int(int y, int x, int channel)> sample = [](int, int, int) { return 0; };
};

inline std::string big32(std::uint64_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

inline std::string png_chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const auto* bytes = reinterpret_cast<const Bytef*>(body.data());
  return big32(data.size()) + body + big32(crc32(0, bytes, static_cast<uInt>(body.size())));
}

inline std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string out(size, '\0');
  const int result = compress(reinterpret_cast<Bytef*>(out.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  out.resize(result == Z_OK ? size : 0);
  return out;
}

/// Rows of the pixels (left + i * dx, top + j * dy), each after its filter type, 0.
inline std::string png_rows(const PngSpec& spec, int left, int top, int dx, int dy) {
  const int channels = spec.colour == kColour        ? 3
                       : spec.colour == kColourAlpha ? 4
                       : spec.colour == kGreyAlpha   ? 2
                                                     : 1;
  std::string out;
  for (int y = top; y < spec.height && left < spec.width; y += dy) {
    out += '\0';
    int used = 8;  // bits of the last byte
    for (int x = left; x < spec.width; x += dx) {
      for (int c = 0; c < channels; ++c) {
        const int value = spec.sample(y, x, c);
        if (spec.depth == 16) out += static_cast<char>(value >> 8);
        if (spec.depth >= 8) {
          out += static_cast<char>(value);
          continue;
        }
        if (used == 8) out += '\0', used = 0;
        used += spec.depth;
        out.back() = static_cast<char>(out.back() | (value << (8 - used)));
      }
    }
  }
  return out;
}

inline std::string png_header(const PngSpec& spec) {
  const std::string kinds{static_cast<char>(spec.depth), static_cast<char>(spec.colour), 0, 0,
                          static_cast<char>(spec.interlaced)};
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big32(unsigned(spec.width)) + big32(unsigned(spec.height)) + kinds);
}

inline std::string png_bytes(const PngSpec& spec) {
  std::string out = png_header(spec), rows;
  if (!spec.palette.empty()) out += png_chunk("PLTE", spec.palette);
  if (!spec.transparency.empty()) out += png_chunk("tRNS", spec.transparency);
  if (spec.interlaced) {
    constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                   {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    for (const auto& pass : kPasses) rows += png_rows(spec, pass[0], pass[1], pass[2], pass[3]);
  } else {
    rows = png_rows(spec, 0, 0, 1, 1);
  }
  const std::string pixels = deflated(rows);
  const std::size_t half = pixels.size() / 2;  // pixels may be in several chunks
  return out + png_chunk("IDAT", pixels.substr(0, half)) + png_chunk("IDAT", pixels.substr(half)) +
         png_chunk("IEND", "");
}

}  // namespace motes::testing
