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
PageMap layout_from_metadata(const TiffMetadata& metadata, const TiffFile& file, const FrameOptions& options);

/// A set of OME-TIFFs whose planes lie in several files, by the metadata of one of them; `path` is that file
/// or the set's companion.
std::unique_ptr<FrameSource> open_file_set(const std::filesystem::path& path, const TiffFile& first,
                                           const TiffMetadata& metadata, const FrameOptions& options);

/// The OME-XML of a set in a file of its own (NAME.companion.ome).
bool is_companion(const std::filesystem::path& path);
std::unique_ptr<FrameSource> open_companion(const std::filesystem::path& path, const FrameOptions& options);

}  // namespace motes::io::detail
