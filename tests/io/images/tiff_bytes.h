#pragma once
/// Small uncompressed TIFFs made byte by byte, independently of libtiff.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <motes/io/frame_source.h>

namespace motes::testing {

struct TiffSpec {
  bool big_endian = false;
  bool big_tiff = false;
  io::VoxelType type = io::VoxelType::u16;
  int width = 13, height = 11, pages = 1;
  int rows_per_strip = 4;
  int tile = 0;             ///< side of square tiles; 0: strips
  std::string description;  ///< description of the first page
  double resolution = 0;    ///< pixels per unit along both axes; 0: no tag
  int resolution_unit = 1;  ///< 1 none, 2 inch, 3 cm
  int directories = -1;  ///< -1: one per page; 1: only the first, followed by the voxels of the other pages
  int samples = 1, bits = 0, sample_format = 0;  ///< 0: by type
  bool white_is_zero = false;
  std::string software;  ///< program that wrote the file; empty: no tag
  bool rgb = false;      ///< stores `samples` samples per pixel: red, green and blue; a fourth is alpha
  bool planar = false;   ///< with `rgb`: one plane of each sample
  std::function<int(int page, int y, int x, int channel)> tint;  ///< with `rgb`: added to voxel_value
  std::function<std::uint64_t(int)> pattern;  ///< with `bits`: what is stored for a value; none: by type
};

/// The value at (page, y, x) of every file made here: fits u8, and differs from nearby values.
inline int voxel_value(std::int64_t page, std::int64_t y, std::int64_t x) {
  return static_cast<int>((page * 37 + y * 17 + x * 3) % 251);
}

class TiffBytes {
 public:
  explicit TiffBytes(const TiffSpec& spec) : spec_(spec) {
    bytes_ = spec.big_endian ? "MM" : "II";
    put(spec.big_tiff ? 43 : 42, 2);
    if (spec.big_tiff) put(8, 2), put(0, 2);
    std::size_t link = bytes_.size();
    put(0, word());
    const int directories = spec.directories < 0 ? spec.pages : spec.directories;
    for (int page = 0; page < directories; ++page) link = add_page(page, link);
    for (int page = directories; page < spec.pages; ++page) add_rows(page, 0, spec.height);
  }

  const std::string& bytes() const { return bytes_; }
  void save(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary).write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
  }

 private:
  struct Entry {
    int tag, type;
    std::vector<std::uint64_t> values;
  };

  int word() const { return spec_.big_tiff ? 8 : 4; }
  int voxel_bytes() const {
    if (spec_.pattern) return std::max(1, spec_.bits / 8);
    return spec_.type == io::VoxelType::u8 ? 1 : spec_.type == io::VoxelType::u16 ? 2 : 4;
  }

  std::string number(std::uint64_t value, int size) const {
    std::string out;
    for (int i = 0; i < size; ++i)
      out += static_cast<char>(value >> (8 * (spec_.big_endian ? size - 1 - i : i)));
    return out;
  }
  void put(std::uint64_t value, int size) { bytes_ += number(value, size); }
  void patch(std::size_t at, std::uint64_t value) {
    bytes_.replace(at, static_cast<std::size_t>(word()), number(value, word()));
  }

  void put_voxel(int page, int y, int x, int channel = 0) {
    int value = y < spec_.height && x < spec_.width ? voxel_value(page, y, x) : 99;
    if (channel == 3) return put(0xffffffff, voxel_bytes());
    if (spec_.tint) value += spec_.tint(page, y, x, channel);
    if (spec_.pattern) {
      put(spec_.pattern(value), voxel_bytes());
    } else if (spec_.type == io::VoxelType::f32) {
      const float f = static_cast<float>(value) / 8;
      std::uint32_t raw = 0;
      std::memcpy(&raw, &f, 4);
      put(raw, 4);
    } else {
      put(static_cast<std::uint64_t>(spec_.type == io::VoxelType::u8 ? value : value * 200), voxel_bytes());
    }
  }
  /// `count` voxels from x on; those of one bit eight in a byte.
  void put_voxels(int page, int y, int x, int count) {
    if (spec_.bits != 1) {
      const int from = spec_.planar ? plane_ : 0;
      const int to = spec_.planar ? plane_ + 1 : spec_.rgb ? spec_.samples : 1;
      for (int i = 0; i < count; ++i)
        for (int channel = from; channel < to; ++channel) put_voxel(page, y, x + i, channel);
      return;
    }
    for (int i = 0; i < count; i += 8) {
      std::uint64_t byte = 0;
      for (int bit = 0; bit < std::min(8, count - i); ++bit)
        byte |= spec_.pattern(voxel_value(page, y, x + i + bit)) << (7 - bit);
      put(byte, 1);
    }
  }
  void add_rows(int page, int from, int to) {
    for (int y = from; y < to; ++y) put_voxels(page, y, 0, spec_.width);
  }

  std::size_t add_page(int page, std::size_t link) {
    std::vector<std::uint64_t> offsets, counts;
    const auto block = [&](const std::function<void()>& fill) {
      offsets.push_back(bytes_.size());
      fill();
      counts.push_back(bytes_.size() - offsets.back());
    };
    std::vector<Entry> entries = {
        {256, 4, {std::uint64_t(spec_.width)}},
        {257, 4, {std::uint64_t(spec_.height)}},
        {258, 3,
         std::vector<std::uint64_t>(spec_.rgb ? std::size_t(spec_.samples) : 1,
                                    std::uint64_t(spec_.bits > 0 ? spec_.bits : 8 * voxel_bytes()))},
        {259, 3, {1}},
        {262,
         3,
         {spec_.rgb             ? 2u
          : spec_.white_is_zero ? 0u
                                : 1u}}};
    // Directories precede voxels if later pages follow the first page's voxels.
    const bool contiguous = spec_.directories >= 0;
    std::size_t directory = 0;
    if (contiguous) {
      directory = bytes_.size();
      bytes_.append(4096, '\0');
    }
    for (plane_ = 0; plane_ < (spec_.planar ? spec_.samples : 1); ++plane_) {
      for (int y = 0; y < spec_.height && spec_.tile > 0; y += spec_.tile)
        for (int x = 0; x < spec_.width; x += spec_.tile)
          block([&] {
            for (int j = 0; j < spec_.tile; ++j) put_voxels(page, y + j, x, spec_.tile);
          });
      for (int y = 0; y < spec_.height && spec_.tile == 0; y += spec_.rows_per_strip)
        block([&] { add_rows(page, y, std::min(y + spec_.rows_per_strip, spec_.height)); });
    }
    plane_ = 0;
    if (page == 0 && !spec_.description.empty()) {
      std::vector<std::uint64_t> text(spec_.description.begin(), spec_.description.end());
      for (auto& c : text) c &= 0xff;
      text.push_back(0);
      entries.push_back({270, 2, text});
    }
    const int long_type = spec_.big_tiff ? 16 : 4;
    if (spec_.tile == 0) entries.push_back({273, long_type, offsets});
    entries.push_back({277, 3, {std::uint64_t(spec_.samples)}});
    if (spec_.tile == 0) {
      entries.push_back({278, 4, {std::uint64_t(spec_.rows_per_strip)}});
      entries.push_back({279, long_type, counts});
    }
    if (spec_.resolution > 0) {
      const auto scaled = static_cast<std::uint64_t>(spec_.resolution * 10000 + 0.5);
      entries.push_back({282, 5, {scaled, 10000}});
      entries.push_back({283, 5, {scaled, 10000}});
    }
    if (spec_.planar) entries.push_back({284, 3, {2}});
    if (spec_.resolution > 0) entries.push_back({296, 3, {std::uint64_t(spec_.resolution_unit)}});
    if (page == 0 && !spec_.software.empty()) {
      std::vector<std::uint64_t> text(spec_.software.begin(), spec_.software.end());
      text.push_back(0);
      entries.push_back({305, 2, text});
    }
    if (spec_.tile > 0) {
      entries.push_back({322, 4, {std::uint64_t(spec_.tile)}});
      entries.push_back({323, 4, {std::uint64_t(spec_.tile)}});
      entries.push_back({324, long_type, offsets});
      entries.push_back({325, long_type, counts});
    }
    if (spec_.rgb && spec_.samples == 4) entries.push_back({338, 3, {2}});
    const int format = spec_.sample_format > 0            ? spec_.sample_format
                       : spec_.type == io::VoxelType::f32 ? 3
                                                          : 1;
    entries.push_back(
        {339, 3,
         std::vector<std::uint64_t>(spec_.rgb ? std::size_t(spec_.samples) : 1, std::uint64_t(format))});
    return write_directory(entries, link, contiguous ? directory : bytes_.size());
  }

  static int size_of_type(int type) { return type == 2 ? 1 : type == 3 ? 2 : type == 16 ? 8 : 4; }

  /// Returns the position of the next directory's offset. Overwrites reserved space if `at` is inside the
  /// file.
  std::size_t write_directory(const std::vector<Entry>& entries, std::size_t link, std::size_t at) {
    patch(link, at);
    const std::size_t entry_bytes = spec_.big_tiff ? 20 : 12;
    const std::size_t count_bytes = spec_.big_tiff ? 8 : 2;
    const std::size_t next = at + count_bytes + entries.size() * entry_bytes;
    std::size_t extra_at = next + static_cast<std::size_t>(word());
    std::string directory = number(entries.size(), static_cast<int>(count_bytes)), extra;
    for (const Entry& entry : entries) {
      std::string values;
      for (const std::uint64_t v : entry.values) values += number(v, size_of_type(entry.type));
      const std::size_t count = entry.type == 5 ? entry.values.size() / 2 : entry.values.size();
      directory += number(static_cast<std::uint64_t>(entry.tag), 2) +
                   number(static_cast<std::uint64_t>(entry.type), 2) + number(count, word());
      if (values.size() <= static_cast<std::size_t>(word())) {
        values.resize(static_cast<std::size_t>(word()), '\0');
        directory += values;
      } else {
        directory += number(extra_at + extra.size(), word());
        extra += values;
      }
    }
    directory += number(0, word()) + extra;
    if (bytes_.size() < at + directory.size()) bytes_.resize(at + directory.size());
    bytes_.replace(at, directory.size(), directory);
    return next;
  }

  TiffSpec spec_;
  std::string bytes_;
  int plane_ = 0;  // that is being written
};

inline std::filesystem::path save_tiff(const std::filesystem::path& path, const TiffSpec& spec) {
  TiffBytes(spec).save(path);
  return path;
}

/// Voxel (z, y, x) of a frame in the units of voxel_value.
inline double voxel_at(const VolumeFrame& frame, std::int64_t z, std::int64_t y, std::int64_t x) {
  const auto at = static_cast<std::size_t>((z * frame.shape.ny + y) * frame.shape.nx + x);
  if (const auto* v = std::get_if<std::vector<std::uint8_t>>(&frame.voxels)) return (*v)[at];
  if (const auto* v = std::get_if<std::vector<std::uint16_t>>(&frame.voxels)) return (*v)[at] / 200.0;
  return std::get<std::vector<float>>(frame.voxels)[at] * 8.0;
}

/// Whether every voxel of plane z is that of `page`.
inline bool plane_is_page(const VolumeFrame& frame, std::int64_t z, std::int64_t page) {
  for (std::int64_t y = 0; y < frame.shape.ny; ++y)
    for (std::int64_t x = 0; x < frame.shape.nx; ++x)
      if (voxel_at(frame, z, y, x) != voxel_value(page, y, x)) return false;
  return true;
}

}  // namespace motes::testing
