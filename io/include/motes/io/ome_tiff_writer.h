#pragma once
/// Writes a volume series as one OME-TIFF (BigTIFF when it would pass 4 GB), frame by frame.

#include <filesystem>
#include <memory>

#include <motes/tracking/volume_frame.h>

namespace motes::io {

struct OmeTiffOptions {
  std::int32_t frames = 1;
  double dt_s = 0;  ///< 0: not stated in the file
  bool deflate = true;
};

/// The file appears under its name only when close() succeeded; without it nothing is left behind.
/// Throws ResourceError for what the disk refuses.
class OmeTiffWriter {
 public:
  OmeTiffWriter(const std::filesystem::path& path, const OmeTiffOptions& options);
  ~OmeTiffWriter();
  OmeTiffWriter(OmeTiffWriter&&) noexcept;
  OmeTiffWriter& operator=(OmeTiffWriter&&) noexcept;
  void write(const VolumeFrame& frame);  ///< all frames must agree in shape, type and voxel size
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
