#pragma once
/// The XML file of BigDataViewer: the path of the images, their time points, setups and voxel sizes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <motes/tracking/geometry.h>

namespace motes::io::detail {

struct BdvSetup {
  Vec3 voxel_size;   ///< all 0 if missing
  std::string unit;  ///< as written
  std::string
      view_kind;  ///< angle, illumination and tile, as text; setups that differ in it are not channels
};

struct BdvXml {
  std::filesystem::path images;          ///< the HDF5 file, or the N5 or Zarr folder
  std::vector<std::int64_t> timepoints;  ///< ascending; empty if not stated
  std::map<std::int64_t, BdvSetup> setups;
};

/// Whether the text starts an XML document with a SpimData root.
bool is_bdv_xml_head(const std::string& head);

/// Throws InputError with the path, the fault, and the advice to export the file again.
[[noreturn]] void fail_bdv(const std::filesystem::path& path, const std::string& what);

/// Throws InputError for broken XML (with the byte offset) and for unsupported image formats.
BdvXml read_bdv_xml(const std::filesystem::path& path);

}  // namespace motes::io::detail
