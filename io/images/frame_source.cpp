#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/frame_source.h>

#include "io/files/text.h"
#include "io/images/bdv_frames.h"
#include "io/images/calibration.h"
#include "io/images/folder_frames.h"
#include "io/images/input_file.h"
#include "io/images/ome_zarr_frames.h"
#include "io/images/tiff_directories.h"
#include "io/images/tiff_frames.h"

namespace motes::io {
namespace {

enum class Kind { tiff, folder, zarr, bdv, other };

Kind kind_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return detail::is_zarr_folder(path) ? Kind::zarr : Kind::folder;
  if (detail::is_tiff_head(detail::InputFile(path).head(16))) return Kind::tiff;
  return detail::is_bdv(path) ? Kind::bdv : Kind::other;
}

}  // namespace

std::string_view to_string(VoxelType type) {
  switch (type) {
    case VoxelType::u8:
      return "u8";
    case VoxelType::u16:
      return "u16";
    case VoxelType::f32:
      return "f32";
  }
  return "?";
}

std::unique_ptr<FrameSource> open_frames(const std::filesystem::path& path, const FrameOptions& options) {
  detail::check_options(options);
  switch (kind_of(path)) {
    case Kind::folder:
      return detail::open_folder_frames(path, options);
    case Kind::zarr:
      return detail::open_zarr_frames(path, options);
    case Kind::tiff:
      return detail::open_tiff_frames(path, options);
    case Kind::bdv:
      return detail::open_bdv_frames(path, options);
    case Kind::other:
      break;
  }
  const std::string start = detail::read_file_start(path, 2);
  if (start.empty()) throw InputError(path.string() + ": the file is empty; copy or export it again");
  if (start == "\x1f\x8b")
    throw InputError(path.string() + ": is compressed with gzip; decompress it first (gunzip -k)");
  detail::refuse_damaged_hdf5(path);
  throw InputError(
      fmt::format("{}: is no volume series that is read: TIFF, BigTIFF, OME-TIFF, ImageJ TIFF, "
                  "BigDataViewer HDF5 (.h5 or .xml), OME-Zarr, or a folder of TIFFs",
                  path.string()));
}

bool is_frames(const std::filesystem::path& path) {
  try {
    const Kind kind = kind_of(path);
    return kind == Kind::folder ? detail::is_tiff_folder(path) : kind != Kind::other;
  } catch (const Error&) {
    return false;
  }
}

void require_calibration(const SeriesInfo& info) {
  const bool no_voxel = !info.voxel_um, no_interval = info.frames > 1 && !info.dt_s;
  if (!no_voxel && !no_interval) return;
  std::string missing, keys;
  if (no_voxel) {
    missing = "the voxel size";
    keys = "input.voxel_um (one number or [z, y, x], in um)";
  }
  if (no_interval) {
    missing += (no_voxel ? " and " : "") + std::string("the time between frames");
    keys += (no_voxel ? " and " : "") + std::string("input.dt_s (seconds)");
  }
  throw InputError(fmt::format("{}: its metadata do not give {}; set {}", info.path, missing, keys));
}

}  // namespace motes::io
