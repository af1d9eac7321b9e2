#include "io/images/tiff_frames.h"

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/images/calibration.h"
#include "io/images/paged_frames.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

/// Refuses a frame larger than anything the file can hold, before memory is asked for.
void check_against_file(const SeriesInfo& info, const TiffFile& file) {
  if (frame_bytes(info.type, info.shape, info.path) <= file.decoded_bytes_bound()) return;
  throw InputError(
      fmt::format("{}: a frame of {} x {} x {} voxels (z, y, x) is more than the file can hold; it is "
                  "damaged: copy or export it again",
                  info.path, info.shape.nz, info.shape.ny, info.shape.nx));
}

}  // namespace

TiffMetadata consult_metadata(TiffFile& file, const FrameOptions& options) {
  TiffMetadata metadata;
  try {
    metadata = read_tiff_metadata(file);
  } catch (const InputError& error) {
    if (!options.axes) throw;
    metadata.notes.push_back(fmt::format("metadata left aside: {}", error.what()));
  }
  const std::int64_t stated = metadata.pages_stated;
  if (stated > file.pages() && metadata.format != "OME-TIFF") file.take_as_contiguous(stated);
  const bool spread = metadata.format == "OME-TIFF" && !metadata.open_reason.empty();
  if (stated > file.pages() && !spread) {
    throw InputError(fmt::format(
        "{}: truncated: its {} name {} pages, but {} {} there; copy or export it again", file.path().string(),
        metadata.calibration.source, stated, file.pages(), file.pages() == 1 ? "is" : "are"));
  }
  return metadata;
}

PageMap layout_from_metadata(const TiffMetadata& metadata, const TiffFile& file) {
  if (!metadata.open_reason.empty()) {
    throw InputError(
        fmt::format("{}: {}; set input.axes to the order of its {} pages, slowest first, for instance "
                    "'ZYX' (one volume), 'TYX' (a plane per time) or 'TZ10YX' (10 planes per time)",
                    file.path().string(), metadata.open_reason, file.pages()));
  }
  const auto planes = page_count(metadata.axes);
  // An OME-TIFF may hold further images after the first.
  const bool fits = planes && (*planes == file.pages() || metadata.format == "OME-TIFF");
  if (!fits) {
    throw InputError(
        fmt::format("{}: its {} name {} pages ({}), but {} are there; export it again, or set input.axes",
                    file.path().string(), metadata.calibration.source, planes.value_or(-1),
                    axes_text(metadata.axes), file.pages()));
  }
  return metadata.plane_pages.empty() ? PageMap(metadata.axes) : PageMap(metadata.axes, metadata.plane_pages);
}

std::unique_ptr<FrameSource> open_tiff_frames(const std::filesystem::path& path,
                                              const FrameOptions& options) {
  auto file = std::make_shared<TiffFile>(path);
  const TiffMetadata metadata = consult_metadata(*file, options);
  SeriesInfo info;
  info.path = path.string();
  info.format = metadata.format;
  info.notes = metadata.notes;
  PageMap map;
  if (options.axes) {
    const PageAxes axes =
        complete_axes(parse_axes(*options.axes), metadata.axes, metadata.leading_shape, file->pages(), path);
    info.axes = axes_text(axes);
    map = PageMap(axes);
  } else {
    map = layout_from_metadata(metadata, *file);
    info.axes = axes_text(metadata.axes);
  }
  describe_layout(info, map, file->format());
  check_against_file(info, *file);
  choose_channel(info, options);
  apply_calibration(info, metadata.calibration, options);
  return std::make_unique<PagedFrames>(
      std::move(info), std::move(map),
      [file](std::int64_t page, std::span<std::byte> out) { file->read_page(page, out); });
}

}  // namespace motes::io::detail
