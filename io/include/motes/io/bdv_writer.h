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

/// One view setup, one resolution level. BigDataViewer's HDF5 knows 16-bit voxels only: u8 is widened. Both
/// files appear under their names only when close() succeeded; without it nothing is left behind.
/// Throws ResourceError for what the disk refuses, UsageError for float voxels.
class BdvWriter {
 public:
  /// `path` is the .h5; the XML takes its name with .xml.
  BdvWriter(const std::filesystem::path& path, const BdvOptions& options);
  ~BdvWriter();
  BdvWriter(BdvWriter&&) noexcept;
  BdvWriter& operator=(BdvWriter&&) noexcept;
  void write(const VolumeFrame& frame);  ///< all frames must agree in shape, type and voxel size
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
