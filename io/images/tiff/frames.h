#pragma once
/// A volume series in one file of pages: a TIFF, a PNG, or one of a set of OME-TIFFs.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

#include "io/images/tiff/metadata.h"

namespace motes::io::detail {

/// Throws as open_frames does.
std::unique_ptr<FrameSource> open_paged_file(const std::filesystem::path& path, const FrameOptions& options);

/// The file's metadata. If input.axes overrides their order, broken ones only give a note. Reads the file as
/// contiguous (take_as_contiguous) if it is stored so. Throws InputError if the file has fewer pages than
/// stated.
TiffMetadata consult_metadata(PageFile& file, const FrameOptions& options);

/// The order of pages by the metadata. Throws InputError naming input.axes if they do not determine it, or
/// state another number of pages than the file has.
PageMap layout_from_metadata(const TiffMetadata& metadata, const PageFile& file, const FrameOptions& options);

/// A set of OME-TIFFs with planes in several files, by the metadata of one of them. `path` is that file or
/// the set's companion.
std::unique_ptr<FrameSource> open_file_set(const std::filesystem::path& path, const PageFile& first,
                                           const TiffMetadata& metadata, const FrameOptions& options);

/// Whether the file is the OME-XML of a set in a file of its own (NAME.companion.ome).
bool is_companion(const std::filesystem::path& path);
std::unique_ptr<FrameSource> open_companion(const std::filesystem::path& path, const FrameOptions& options);

}  // namespace motes::io::detail
