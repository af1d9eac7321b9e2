#pragma once
/// Metadata of a series in a TIFF's first page: OME-XML, ImageJ's text, tifffile's JSON, or none.

#include <cstdint>
#include <string>
#include <vector>

#include "io/images/calibration.h"
#include "io/images/page_layout.h"
#include "io/images/tiff_file.h"

namespace motes::io::detail {

struct TiffMetadata {
  std::string format = "TIFF";
  PageAxes axes;                            ///< with sizes; set even if `open_reason` is not empty
  std::string open_reason;                  ///< not empty: why the pages' order is not known
  std::vector<std::int64_t> leading_shape;  ///< sizes of the pages' axes where only their names are missing
  std::vector<std::int64_t> plane_pages;    ///< [nt * nz * nc] page of each plane; empty: as `axes` say
  std::vector<std::string> set_files;       ///< names of the files of a set, where the planes lie in several
  std::vector<std::int64_t> plane_files;    ///< [nt * nz * nc] which of set_files holds the plane
  std::int64_t pages_stated = 0;            ///< how many pages the file should have; 0: not stated
  Calibration calibration;
  std::vector<std::string> notes;
};

/// Throws InputError (file, byte offset in the description where known) for metadata that are broken XML or
/// contradict the pages' width and height.
TiffMetadata read_tiff_metadata(const TiffFile& file);

/// One reader for each dialect, called when the description is of its kind.
bool is_ome_xml(const std::string& description);
TiffMetadata read_ome_metadata(const TiffFile& file);
/// The same of OME-XML from elsewhere (a companion file); `file` is one of those it names.
TiffMetadata read_ome_metadata(const TiffFile& file, const std::string& xml);
/// Throws InputError where the name is not that of a file beside `path`, which input.allow_outside permits.
void check_set_file(const std::filesystem::path& path, const std::string& name);
/// The name of the first file that OME-XML names; empty where it names none.
std::string first_ome_file(const std::string& xml);
bool is_imagej(const std::string& description);
TiffMetadata read_imagej_metadata(const TiffFile& file);

}  // namespace motes::io::detail
