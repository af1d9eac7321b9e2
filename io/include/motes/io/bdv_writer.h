#pragma once
/// Writes a volume series as BigDataViewer HDF5: an .h5 with the voxels and an .xml beside it, frame by
/// frame.

#include <filesystem>
#include <memory>

#include <motes/tracking/volume_frame.h>

namespace motes::io {

struct BdvOptions {
  std::int32_t frames = 1;
  double dt_s = 0;  ///< 0: not stated in the file
  bool deflate = true;
};

/// Writes one view setup at one resolution level. BigDataViewer's HDF5 has 16-bit voxels only, so u8 is
/// widened. Both files appear under their names only after close(); without it they are removed. Throws
/// ResourceError for errors of the disk, UsageError for float voxels.
class BdvWriter {
 public:
  /// `path` names the .h5 file; the XML file has the same name with .xml.
  BdvWriter(const std::filesystem::path& path, const BdvOptions& options);
  ~BdvWriter();
  BdvWriter(BdvWriter&&) noexcept;
  BdvWriter& operator=(BdvWriter&&) noexcept;
  /// Appends a frame. All frames must have the same shape, type and voxel size.
  void write(const VolumeFrame& frame);
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
