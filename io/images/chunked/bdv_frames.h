#pragma once
/// BigDataViewer's HDF5 layout: tNNNNN/sNN/0/cells, one dataset per time point and view setup.

#include <filesystem>
#include <memory>

#include <motes/io/frame_source.h>

namespace motes::io::detail {

/// Opens the .h5 or its .xml. View setups become channels. Throws as open_frames does.
std::unique_ptr<FrameSource> open_bdv_frames(const std::filesystem::path& path, const FrameOptions& options);

/// True for an HDF5 file with a time point of that layout, or an XML file with a SpimData root.
bool is_bdv(const std::filesystem::path& path);

/// Throws InputError for a file that begins like HDF5 but cannot be opened: truncated, damaged or locked.
void refuse_damaged_hdf5(const std::filesystem::path& path);

}  // namespace motes::io::detail
