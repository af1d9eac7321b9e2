#pragma once
/// Writes a volume series as one OME-TIFF (BigTIFF if it could exceed 4 GB), frame by frame.

#include <filesystem>
#include <memory>

#include <motes/tracking/volume_frame.h>

namespace motes::io {

struct OmeTiffOptions {
  std::int32_t frames = 1;
  double dt_s = 0;  ///< 0: not stated in the file
  bool deflate = true;
};

/// The file appears under its name only after close(); without it it is removed. Throws ResourceError for
/// errors of the disk.
class OmeTiffWriter {
 public:
  OmeTiffWriter(const std::filesystem::path& path, const OmeTiffOptions& options);
  ~OmeTiffWriter();
  OmeTiffWriter(OmeTiffWriter&&) noexcept;
  OmeTiffWriter& operator=(OmeTiffWriter&&) noexcept;
  /// Appends a frame. All frames must have the same shape, type and voxel size.
  void write(const VolumeFrame& frame);
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
