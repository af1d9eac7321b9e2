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

/// Whether the bytes begin a TIFF or BigTIFF, in either byte order.
bool is_tiff_head(std::string_view head);

/// Follows the chain of directories: two small reads per page, no voxels. Throws InputError (file, page, byte
/// offset) if the chain leaves the file, forms a loop, or is empty.
TiffDirectories scan_directories(const InputFile& file);

}  // namespace motes::io::detail
