#pragma once
/// Volume series, one frame at a time: TIFF, BigTIFF, OME-TIFF, ImageJ hyperstacks, BigDataViewer HDF5,
/// Imaris, OME-Zarr, N5 and folders of volumes. Peak memory is one frame whatever the series' length, or
/// little where frames lie in files (frames_in_files).

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <motes/base/scratch.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/volume_frame.h>

namespace motes::io {

/// What the user says about the input; each overrides the file's metadata.
struct FrameOptions {
  std::optional<Vec3> voxel_um;
  std::optional<double> dt_s;
  std::optional<int> channel;  ///< from 0
  std::optional<std::string>
      axes;  ///< order of the file's pages, slowest first, for instance "TZCYX" or "ZYX"
};

enum class VoxelType { u8, u16, f32 };
std::string_view to_string(VoxelType type);
std::int64_t bytes_per_voxel(VoxelType type);

/// What was read of the input; printed before work starts and by `motes info`.
struct SeriesInfo {
  std::string path;
  std::string format;  ///< "OME-TIFF", "ImageJ TIFF", "TIFF", "BDV HDF5", "folder of TIFF volumes" ...
  std::string axes;    ///< as stored, slowest first
  std::int32_t frames = 0;
  int channels = 1;
  int channel = 0;  ///< the one read
  Shape3 shape;     ///< of one frame of one channel
  VoxelType type = VoxelType::u8;
  std::optional<Vec3> voxel_um;  ///< none: neither the metadata nor the options say
  std::string voxel_um_source;   ///< "metadata (OME)", "input.voxel_um" ...
  std::optional<double> dt_s;
  std::string dt_s_source;
  std::vector<std::string> notes;  ///< what a user should know, for instance "z spacing missing in metadata"
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SeriesInfo& info() const = 0;
  /// Frame t in [0, frames). Not thread-safe. Throws InputError (what, which file, where) for damaged data.
  virtual VolumeFrame read(std::int32_t t) = 0;

  /// The voxels of frame t into `out` [voxels * bytes of one], which holds zeros; errors as of read(). motes'
  /// readers take little memory besides: that of a page, chunk or block.
  virtual void read_voxels(std::int32_t t, std::span<std::byte> out);
};

/// Opens a file or a folder. Throws InputError: not there, unknown format, damaged, unsupported type, axes
/// that the metadata leave open (z and t cannot be told apart), naming the key to set. Missing voxel size or
/// frame interval do not throw here (`info` must be able to show the file); see require_calibration.
std::unique_ptr<FrameSource> open_frames(const std::filesystem::path& path, const FrameOptions& options = {});

/// As source.read(t), with the voxels in a file where `scratch` is given.
VolumeFrame read_frame(FrameSource& source, std::int32_t t, const std::shared_ptr<Scratch>& scratch);

/// The same series, each of whose frames is read into a file.
std::unique_ptr<FrameSource> frames_in_files(std::unique_ptr<FrameSource> source,
                                             std::shared_ptr<Scratch> scratch);

/// True when the path looks like something open_frames reads (by content, not by name alone).
bool is_frames(const std::filesystem::path& path);

/// Throws InputError naming input.voxel_um, or input.dt_s for more than one frame, where the series lacks it.
void require_calibration(const SeriesInfo& info);

}  // namespace motes::io
