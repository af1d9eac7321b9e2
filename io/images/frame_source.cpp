/// open_frames: recognises the format of a file or folder and opens it.

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/frame_source.h>

#include "io/files/text.h"
#include "io/images/calibration.h"
#include "io/images/chunked/bdv_frames.h"
#include "io/images/chunked/bdv_xml.h"
#include "io/images/chunked/imaris_frames.h"
#include "io/images/chunked/n5_frames.h"
#include "io/images/chunked/ome_zarr_frames.h"
#include "io/images/folders/frames.h"
#include "io/images/folders/series.h"
#include "io/images/input_file.h"
#include "io/images/pages/page_file.h"
#include "io/images/tiff/frames.h"
#include "io/images/units.h"
#include "io/images/unsupported_formats.h"

namespace motes::io {
namespace {

enum class Kind { pages, folder, zarr, n5, companion, bdv, imaris, other };

Kind kind_of(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    if (detail::is_bdv_n5(path)) return Kind::n5;
    return detail::is_zarr_folder(path) ? Kind::zarr : Kind::folder;
  }
  if (detail::is_page_head(detail::InputFile(path).head(16))) return Kind::pages;
  if (detail::is_companion(path)) return Kind::companion;
  if (detail::is_bdv(path)) return Kind::bdv;
  return detail::is_imaris(path) ? Kind::imaris : Kind::other;
}

/// Opens the images that the XML names: an HDF5 file, or a folder of N5 or Zarr.
std::unique_ptr<FrameSource> open_bdv(const std::filesystem::path& path, const FrameOptions& options) {
  constexpr std::size_t kHead = 65536;
  if (!detail::is_bdv_xml_head(detail::InputFile(path).head(kHead)))
    return detail::open_bdv_frames(path, options);
  const detail::BdvXml xml = detail::read_bdv_xml(path);
  std::error_code ignored;
  if (!std::filesystem::is_directory(xml.images, ignored)) return detail::open_bdv_frames(path, options);
  if (detail::is_bdv_n5(xml.images)) return detail::open_n5_frames(path, options);
  detail::Calibration scale;
  scale.source = "metadata (BigDataViewer XML)";
  if (!xml.setups.empty()) {
    const detail::BdvSetup& setup = xml.setups.begin()->second;
    if (const auto factor = detail::length_unit_um(setup.unit); factor && setup.voxel_size.x > 0) {
      scale.x_um = setup.voxel_size.x * *factor;
      scale.y_um = setup.voxel_size.y * *factor;
      scale.z_um = setup.voxel_size.z * *factor;
    }
  }
  return detail::open_zarr_frames(xml.images, options, scale);
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

std::int64_t bytes_per_voxel(VoxelType type) {
  switch (type) {
    case VoxelType::u8:
      return 1;
    case VoxelType::u16:
      return 2;
    case VoxelType::f32:
      return 4;
  }
  return 0;
}

void FrameSource::read_voxels(std::int32_t t, std::span<std::byte> out) {
  const VolumeFrame frame = read(t);
  visit_voxels(frame.voxels, [&](auto voxels) {
    const auto bytes = std::as_bytes(voxels);
    if (bytes.size() != out.size())
      throw InputError(fmt::format("{}: frame {} is unlike the first", info().path, t));
    std::copy(bytes.begin(), bytes.end(), out.begin());
  });
}

VolumeFrame FrameSource::read_over(std::int32_t t, VolumeFrame) { return read(t); }

std::unique_ptr<FrameSource> open_frames(const std::filesystem::path& path, const FrameOptions& options) {
  detail::check_options(options);
  switch (kind_of(path)) {
    case Kind::folder:
      return detail::open_folder_frames(path, options);
    case Kind::n5:
      return detail::open_n5_frames(path, options);
    case Kind::zarr:
      return detail::open_zarr_frames(path, options);
    case Kind::companion:
      return detail::open_companion(path, options);
    case Kind::pages:
      return detail::open_paged_file(path, options);
    case Kind::bdv:
      return open_bdv(path, options);
    case Kind::imaris:
      return detail::open_imaris_frames(path, options);
    case Kind::other:
      break;
  }
  const std::string start = detail::read_file_start(path, 2);
  if (start.empty()) throw InputError(path.string() + ": the file is empty; copy or export it again");
  if (start == "\x1f\x8b")
    throw InputError(path.string() + ": is compressed with gzip; decompress it first (gunzip -k)");
  detail::refuse_damaged_hdf5(path);
  const std::string extension = detail::lower_case(path.extension().string());
  if (const std::string_view what = detail::what_to_do(extension); !what.empty())
    throw InputError(fmt::format("{}: motes does not read {} files; {}", path.string(), extension, what));
  const bool other_hdf5 = start == "\x89H";
  if (const std::string_view content = detail::content_of(extension); !content.empty() && !other_hdf5)
    throw InputError(fmt::format("{}: this is not {}, although its name ends in {}; export or copy it again",
                                 path.string(), content, extension));
  if (other_hdf5 && extension != ".ims")
    throw InputError(fmt::format(
        "{}: this HDF5 file is of another program (not Imaris, BigDataViewer, Picasso or motes); read it in "
        "Python and give the table to motes.link, or the image to motes.track",
        path.string()));
  throw InputError(fmt::format(
      "{}: unsupported format; motes reads TIFF, BigTIFF, OME-TIFF, ImageJ TIFF, PNG, Imaris .ims, "
      "BigDataViewer HDF5 or N5 (or their .xml), OME-Zarr, a folder of TIFFs or PNGs, or a table of "
      "points (.csv, .tsv, .txt)",
      path.string()));
}

bool is_frames(const std::filesystem::path& path) {
  try {
    const Kind kind = kind_of(path);
    if (kind != Kind::folder) return kind != Kind::other;
    return detail::is_image_folder(path) || detail::is_folder_series(path);
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
    keys = "input.voxel_um (--voxel Z,Y,X or one number, in um)";
  }
  if (no_interval) {
    missing += (no_voxel ? " and " : "") + std::string("the time between frames");
    keys += (no_voxel ? " and " : "") + std::string("input.dt_s (--dt, in seconds)");
  }
  throw InputError(fmt::format("{}: its metadata do not give {}; set {}", info.path, missing, keys));
}

}  // namespace motes::io
