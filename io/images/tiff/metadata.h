#pragma once
/// Metadata of a series in a TIFF's first page: OME-XML, ImageJ's text, tifffile's JSON, or none.

#include <cstdint>
#include <string>
#include <vector>

#include "io/images/calibration.h"
#include "io/images/pages/page_file.h"
#include "io/images/pages/page_layout.h"

namespace motes::io::detail {

struct TiffMetadata {
  std::string format = "TIFF";
  PageAxes axes;                            ///< with sizes; set even if `open_reason` is not empty
  std::string open_reason;                  ///< if not empty: why the order of pages is not known
  std::vector<std::int64_t> leading_shape;  ///< sizes of the pages' axes if only their names are missing
  std::vector<std::int64_t> plane_pages;    ///< [nt * nz * nc] page of each plane; empty: the order of `axes`
  std::vector<std::string> set_files;       ///< names of the files of a set, if planes are in several
  std::vector<std::int64_t> plane_files;    ///< [nt * nz * nc] index in set_files of the plane's file
  std::int64_t pages_stated = 0;            ///< number of pages that the file should have; 0: not stated
  Calibration calibration;
  std::vector<std::string> notes;
};

/// Throws InputError (file, and byte offset in the description if known) for metadata that are broken XML or
/// contradict the pages' width and height.
TiffMetadata read_tiff_metadata(const PageFile& file);

/// One reader for each dialect, called if the description has this dialect.
bool is_ome_xml(const std::string& description);
TiffMetadata read_ome_metadata(const PageFile& file);
/// The same for OME-XML from elsewhere (a companion file); `file` is one of the files that it names.
TiffMetadata read_ome_metadata(const PageFile& file, const std::string& xml);
/// Throws InputError if the name is not that of a file beside `path`, unless input.allow_outside is set.
void check_set_file(const std::filesystem::path& path, const std::string& name);
/// The name of the first file in the OME-XML; empty if it names none.
std::string first_ome_file(const std::string& xml);
bool is_imagej(const std::string& description);
TiffMetadata read_imagej_metadata(const PageFile& file);

}  // namespace motes::io::detail
