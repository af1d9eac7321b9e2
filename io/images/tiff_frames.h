#pragma once
/// A volume series in one TIFF.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

#include "io/images/tiff_metadata.h"

namespace motes::io::detail {

/// Throws as open_frames does.
std::unique_ptr<FrameSource> open_tiff_frames(const std::filesystem::path& path, const FrameOptions& options);

/// The file's metadata; where input.axes overrides their order, broken ones are only noted. Takes the file as
/// contiguous where that is how it holds its pages. Throws InputError for a file with fewer pages than
/// stated.
TiffMetadata consult_metadata(TiffFile& file, const FrameOptions& options);

/// The pages' order by the metadata. Throws InputError naming input.axes where they leave it open, or name
/// other numbers of pages than there are.
PageMap layout_from_metadata(const TiffMetadata& metadata, const TiffFile& file);

}  // namespace motes::io::detail
