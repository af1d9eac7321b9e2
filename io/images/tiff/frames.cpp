/// A FrameSource for a single file of pages.

#include "io/images/tiff/frames.h"

#include <memory>
#include <numeric>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/files/text.h"
#include "io/images/calibration.h"
#include "io/images/pages/paged_frames.h"
#include "io/images/voxel_buffer.h"

namespace motes::io::detail {
namespace {

/// Throws if a frame is larger than the decoded file can be, before memory is allocated.
void check_against_file(const SeriesInfo& info, const PageFile& file) {
  if (info.shape.nz <= file.most_pages()) return;
  throw InputError(
      fmt::format("{}: a frame of {} x {} x {} voxels (z, y, x) is more than the file can have; it is "
                  "damaged: copy or export it again",
                  info.path, info.shape.nz, info.shape.ny, info.shape.nx));
}

/// The file's pages, for one thread.
PageReader pages_of(std::shared_ptr<PageFile> file) {
  return [file](std::int64_t page, std::span<std::byte> out) { file->read_page(page, out); };
}

/// The same pages for another thread.
OpenPages pages_again(const PageFile& file) {
  return [path = file.path(), pages = file.pages(), format = file.format()] {
    std::shared_ptr<PageFile> again = open_page_file(path);
    if (again->pages() < pages) again->take_as_contiguous(pages);
    if (again->pages() != pages || again->format() != format)
      throw InputError(path.string() + ": the file has changed since it was opened; run the command again");
    return pages_of(std::move(again));
  };
}

/// The pages of a set's files by plane. Keeps the last file open.
class FileSet {
 public:
  FileSet(std::filesystem::path folder, const TiffMetadata& metadata, PageFormat format)
      : folder_(std::move(folder)),
        files_(metadata.set_files),
        pages_(metadata.plane_pages),
        file_of_(metadata.plane_files),
        format_(format) {
    for (const std::string& name : files_) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(folder_ / name, ignored)) continue;
      throw InputError(fmt::format(
          "{}: this file of the set of {} is missing; copy the whole set, or set input.axes to read "
          "one file's pages alone",
          (folder_ / name).string(), files_.size()));
    }
  }

  void read(std::int64_t plane, std::span<std::byte> out) {
    const auto at = static_cast<std::size_t>(plane);
    if (!file_ || open_ != file_of_[at]) {
      const std::filesystem::path path = folder_ / files_[static_cast<std::size_t>(file_of_[at])];
      file_ = open_page_file(path);
      open_ = file_of_[at];
      if (file_->format() != format_)
        throw InputError(fmt::format(
            "{}: its pages are unlike those of the set's first file; export the set again", path.string()));
    }
    if (pages_[at] >= file_->pages())
      throw InputError(
          fmt::format("{}: has {} pages, but the set's OME-XML names page {}; copy the file again",
                      file_->path().string(), file_->pages(), pages_[at] + 1));
    file_->read_page(pages_[at], out);
  }

 private:
  std::filesystem::path folder_;
  std::vector<std::string> files_;
  std::vector<std::int64_t> pages_, file_of_;
  PageFormat format_;
  std::unique_ptr<PageFile> file_;
  std::int64_t open_ = -1;
};

}  // namespace

TiffMetadata consult_metadata(PageFile& file, const FrameOptions& options) {
  TiffMetadata metadata;
  try {
    metadata = read_tiff_metadata(file);
  } catch (const InputError& error) {
    if (!options.axes) throw;
    metadata.notes.push_back(fmt::format("metadata ignored: {}", error.what()));
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

PageMap layout_from_metadata(const TiffMetadata& metadata, const PageFile& file,
                             const FrameOptions& options) {
  if (!metadata.open_reason.empty()) {
    throw InputError(fmt::format(
        "{}: {}; set input.axes (--axes) to the order of its {} pages, slowest first, for instance "
        "'ZYX' (one volume), 'TYX' (a plane per time) or 'TZ10YX' (10 planes per time){}",
        file.path().string(), metadata.open_reason, file.pages(),
        ask_for_calibration(metadata.calibration, options)));
  }
  const auto planes = page_count(metadata.axes);
  // An OME-TIFF may have further images after the first.
  const bool fits = planes && (*planes == file.pages() || metadata.format == "OME-TIFF");
  if (!fits) {
    throw InputError(
        fmt::format("{}: its {} name {} pages ({}), but it has {}; export it again, or set input.axes",
                    file.path().string(), metadata.calibration.source, planes.value_or(-1),
                    axes_text(metadata.axes), file.pages()));
  }
  return metadata.plane_pages.empty() ? PageMap(metadata.axes) : PageMap(metadata.axes, metadata.plane_pages);
}

std::unique_ptr<FrameSource> open_file_set(const std::filesystem::path& path, const PageFile& first,
                                           const TiffMetadata& metadata, const FrameOptions& options) {
  const OpenPages open = [folder = path.parent_path(), metadata, format = first.format()]() -> PageReader {
    auto set = std::make_shared<FileSet>(folder, metadata, format);
    return [set](std::int64_t plane, std::span<std::byte> out) { set->read(plane, out); };
  };
  PageReader pages = open();
  SeriesInfo info;
  info.path = path.string();
  info.format = fmt::format("OME-TIFF in {} files", metadata.set_files.size());
  info.notes = metadata.notes;
  info.axes = axes_text(metadata.axes);
  // A page number is an index into the set's own table: the plane's number.
  std::vector<std::int64_t> planes(metadata.plane_pages.size());
  std::iota(planes.begin(), planes.end(), std::int64_t{0});
  const PageMap map(metadata.axes, std::move(planes));
  describe_layout(info, map, first.format());
  frame_bytes(info.type, info.shape, info.path);
  choose_channel(info, options);
  apply_calibration(info, metadata.calibration, options);
  return std::make_unique<PagedFrames>(std::move(info), map, std::move(pages), open);
}

std::unique_ptr<FrameSource> open_companion(const std::filesystem::path& path, const FrameOptions& options) {
  if (options.axes) throw UsageError("input.axes: the axes are in the companion file; remove the key");
  const std::string xml = read_whole_file(path);
  const std::string name = first_ome_file(xml);
  if (name.empty())
    throw InputError(fmt::format("{}: this OME-XML names no TIFF beside it; export it again", path.string()));
  check_set_file(path, name);
  const auto first = open_page_file(path.parent_path() / name);
  TiffMetadata metadata = read_ome_metadata(*first, xml);
  if (metadata.set_files.empty()) {  // a set of one
    metadata.set_files = {name};
    if (metadata.plane_pages.empty()) {
      metadata.plane_pages.resize(static_cast<std::size_t>(page_count(metadata.axes).value_or(0)));
      const PageMap map(metadata.axes);
      std::size_t i = 0;
      for (std::int64_t t = 0; t < map.nt(); ++t)
        for (std::int64_t z = 0; z < map.nz(); ++z)
          for (std::int64_t c = 0; c < map.nc(); ++c) metadata.plane_pages[i++] = map.page(t, z, c);
    }
    metadata.plane_files.assign(metadata.plane_pages.size(), 0);
  }
  return open_file_set(path, *first, metadata, options);
}

bool is_companion(const std::filesystem::path& path) {
  return path.string().ends_with(".companion.ome") && is_ome_xml(read_file_start(path, 4096));
}

std::unique_ptr<FrameSource> open_paged_file(const std::filesystem::path& path, const FrameOptions& options) {
  const std::shared_ptr<PageFile> file = open_page_file(path);
  const TiffMetadata metadata = consult_metadata(*file, options);
  if (!metadata.set_files.empty() && !options.axes) return open_file_set(path, *file, metadata, options);
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
    map = layout_from_metadata(metadata, *file, options);
    info.axes = axes_text(metadata.axes);
  }
  describe_layout(info, map, file->format());
  check_against_file(info, *file);
  choose_channel(info, options);
  apply_calibration(info, metadata.calibration, options);
  return std::make_unique<PagedFrames>(std::move(info), std::move(map), pages_of(file), pages_again(*file));
}

}  // namespace motes::io::detail
