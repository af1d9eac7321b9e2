#pragma once
/// Reads volume series one frame at a time: TIFF, BigTIFF, OME-TIFF, ImageJ hyperstacks, BigDataViewer HDF5,
/// Imaris, OME-Zarr, N5 and folders of volumes. Only one frame is in memory, whatever the length of the
/// series; with frames_in_files not even a whole frame.

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

/// What the user states about the input; each value overrides the file's metadata.
struct FrameOptions {
  std::optional<Vec3> voxel_um;
  std::optional<double> dt_s;
  std::optional<int> channel;  ///< from 0
  /// Order of the file's axes, slowest first, for instance "TZCYX" or "ZYX".
  std::optional<std::string> axes;
};

enum class VoxelType { u8, u16, f32 };
std::string_view to_string(VoxelType type);
std::int64_t bytes_per_voxel(VoxelType type);

/// Description of a series; printed before work starts and by `motes info`.
struct SeriesInfo {
  std::string path;
  std::string format;  ///< "OME-TIFF", "ImageJ TIFF", "TIFF", "BDV HDF5", "folder of TIFF volumes" ...
  std::string axes;    ///< as stored, slowest first
  std::int32_t frames = 0;
  int channels = 1;
  int channel = 0;  ///< the one read
  Shape3 shape;     ///< of one frame of one channel
  VoxelType type = VoxelType::u8;
  std::optional<Vec3> voxel_um;  ///< none: neither in the metadata nor in the options
  std::string voxel_um_source;   ///< "metadata (OME)", "input.voxel_um" ...
  std::optional<double> dt_s;    ///< time between frames; none: as above
  std::string dt_s_source;
  std::vector<std::string> notes;  ///< remarks for the user, for instance "z spacing missing in metadata"
};

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual const SeriesInfo& info() const = 0;
  /// Reads frame t in [0, frames). Not thread-safe. Throws InputError (fault, file, place) for damaged data.
  virtual VolumeFrame read(std::int32_t t) = 0;

  /// Reads the voxels of frame t into `out` [voxels * bytes_per_voxel], which must be zero. Throws as read().
  /// The readers of this library need additional memory for only one page, chunk or block.
  virtual void read_voxels(std::int32_t t, std::span<std::byte> out);

  /// As read(t), in the memory of an earlier frame if the reader can use it, since allocating new memory
  /// takes longer than copying voxels.
  virtual VolumeFrame read_over(std::int32_t t, VolumeFrame earlier);

  /// Another reader of the same series, for another thread; null for formats without one. Throws InputError
  /// if the files have changed.
  virtual std::unique_ptr<FrameSource> again() const { return nullptr; }
};

/// Opens a file or a folder. Throws InputError if it does not exist, is damaged, or has an unknown format or
/// voxel type; also, naming the key to set, if the metadata do not distinguish z from t. A missing voxel size
/// or frame interval is not an error here (`info` must be able to show the file); see require_calibration.
std::unique_ptr<FrameSource> open_frames(const std::filesystem::path& path, const FrameOptions& options = {});

/// As source.read(t), but with the voxels in a file of `scratch` if that is not null.
VolumeFrame read_frame(FrameSource& source, std::int32_t t, const std::shared_ptr<Scratch>& scratch);

/// The same series, whose frames are read into files of `scratch` instead of memory.
std::unique_ptr<FrameSource> frames_in_files(std::unique_ptr<FrameSource> source,
                                             std::shared_ptr<Scratch> scratch);

/// Whether the path looks like something that open_frames reads, judged by content and not only by name.
bool is_frames(const std::filesystem::path& path);

/// Throws InputError naming input.voxel_um if the series has no voxel size, or input.dt_s if it has several
/// frames and no frame interval.
void require_calibration(const SeriesInfo& info);

}  // namespace motes::io
