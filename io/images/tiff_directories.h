#pragma once
/// The positions of a TIFF's pages.

#include <cstdint>
#include <vector>

#include "io/images/input_file.h"

namespace motes::io::detail {

struct TiffDirectories {
  bool big_endian = false;
  std::vector<std::uint64_t> offsets;  ///< [pages] byte offset of each page's directory, in the file's order
};

/// True when the bytes start a TIFF or BigTIFF of either byte order.
bool is_tiff_head(std::string_view head);

/// Follows the chain of directories: two small reads a page, no voxels. Throws InputError (file, page, byte
/// offset) for a chain that leaves the file, returns to itself, or is empty.
TiffDirectories scan_directories(const InputFile& file);

}  // namespace motes::io::detail
