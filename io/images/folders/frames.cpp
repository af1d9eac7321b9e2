/// A FrameSource for a folder of numbered TIFFs or PNGs.

#include "io/images/folders/frames.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "io/files/checked.h"
#include "io/files/open_error.h"
#include "io/files/text.h"
#include "io/images/calibration.h"
#include "io/images/folders/micromanager.h"
#include "io/images/folders/numbered_names.h"
#include "io/images/folders/plane_names.h"
#include "io/images/folders/series.h"
#include "io/images/input_file.h"
#include "io/images/pages/paged_frames.h"
#include "io/images/tiff/frames.h"
#include "io/images/unsupported_formats.h"

namespace motes::io::detail {
namespace {

namespace fs = std::filesystem;

bool has_extension(const fs::path& file, std::initializer_list<std::string_view> extensions) {
  const std::string found = lower_case(file.extension().string());
  return std::find(extensions.begin(), extensions.end(), found) != extensions.end();
}

/// The folder's TIFFs in natural order; its PNGs if it has none, without the preview.png of a run.
std::vector<fs::path> list_images(const fs::path& folder) {
  std::vector<fs::path> tiffs, pngs;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const fs::path& file = entry->path();
    const fs::file_status status = entry->status(ignored);
    // A broken link is listed, so that opening it reports the error.
    const bool is_file = fs::is_regular_file(status) || (!fs::exists(status) && entry->is_symlink(ignored));
    if (file.filename().string().starts_with('.') || !is_file) continue;
    if (has_extension(file, {".tif", ".tiff", ".btf", ".tf8"})) tiffs.push_back(file);
    if (has_extension(file, {".png"}) && file.filename() != "preview.png") pngs.push_back(file);
  }
  if (error) fail_to_open(folder, "list the folder", error.value());
  std::vector<fs::path> files = tiffs.empty() ? std::move(pngs) : std::move(tiffs);
  std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return files;
}

/// The pages of all files as one list. Keeps the last file open.
class FolderPages {
 public:
  FolderPages(std::vector<fs::path> files, std::int64_t pages_per_file, PageFormat format)
      : files_(std::move(files)), pages_per_file_(pages_per_file), format_(format) {}

  void read(std::int64_t page, std::span<std::byte> out) {
    const auto index = static_cast<std::size_t>(page / pages_per_file_);
    if (!file_ || index != open_index_) {
      file_ = open_page_file(files_[index]);
      open_index_ = index;
      check(*file_);
    }
    file_->read_page(page % pages_per_file_, out);
  }

  void check(PageFile& file) const {
    if (file.pages() < pages_per_file_) file.take_as_contiguous(pages_per_file_);
    if (file.pages() == pages_per_file_ && file.format() == format_) return;
    throw InputError(fmt::format(
        "{}: is {} x {} x {} {} (pages, rows, columns), but the folder's first file {} x {} x {} {}; all "
        "files must have the same shape and type",
        file.path().string(), file.pages(), file.format().height, file.format().width,
        to_string(file.format().stored), pages_per_file_, format_.height, format_.width,
        to_string(format_.stored)));
  }

 private:
  std::vector<fs::path> files_;
  std::int64_t pages_per_file_;
  PageFormat format_;
  std::unique_ptr<PageFile> file_;
  std::size_t open_index_ = 0;
};

std::string scale_text(const Calibration& scale) {
  const auto size = [](const std::optional<double>& um) { return um ? fmt::format("{:g}", *um) : "?"; };
  return fmt::format("[{}, {}, {}] um", size(scale.z_um), size(scale.y_um), size(scale.x_um));
}

/// Throws InputError unless the metadata of all files of a series agree on the voxel size.
void check_same_scale(const Calibration& first, const Calibration& other, const fs::path& first_file,
                      const fs::path& file) {
  const auto same = [](const std::optional<double>& a, const std::optional<double>& b) {
    return !a || !b || std::abs(*a - *b) <= 1e-6 * std::abs(*a);
  };
  if (same(first.x_um, other.x_um) && same(first.y_um, other.y_um) && same(first.z_um, other.z_um)) return;
  throw InputError(
      fmt::format("{}: its metadata give voxels of {}, those of {} {}; keep only one series in the folder, "
                  "or set input.voxel_um",
                  file.string(), scale_text(other), first_file.filename().string(), scale_text(first)));
}

/// The layout that input.axes gives to `files` files of `pages` pages each.
PageAxes axes_over_files(const std::string& text, const TiffMetadata& metadata, std::int64_t files,
                         std::int64_t pages, const fs::path& folder) {
  PageAxes axes = parse_axes(text);
  const bool has_time =
      std::any_of(axes.begin(), axes.end(), [](const PageAxis& a) { return a.letter == 'T'; });
  if (pages > 1 && !has_time) {
    axes.insert(axes.begin(), {'T', files});
  } else if (pages > 1 && axes.size() > 1 && axes.front().size == 0) {
    axes.front().size = files;  // the slowest axis is that of the files
  }
  PageAxes within = metadata.axes;
  std::erase_if(within, [](const PageAxis& a) { return a.letter == 'T'; });
  return complete_axes(std::move(axes), within, {}, checked_product({files, pages}).value_or(0), folder);
}

/// The pages of one file: z (and c) by its metadata, or z if these do not state it.
struct FileLayout {
  PageAxes axes;
  PageMap map;
};

FileLayout layout_within(const TiffMetadata& metadata, const PageFile& first, const FrameOptions& options,
                         SeriesInfo& info) {
  FileLayout within{{{'Z', first.pages()}}, {}};
  if (metadata.open_reason.empty()) {
    within = {metadata.axes, layout_from_metadata(metadata, first, options)};
  } else {
    info.notes.push_back("the files' pages are taken as z: their metadata do not say");
    within.map = PageMap(within.axes);
  }
  if (within.map.nt() != 1) {
    throw InputError(
        fmt::format("{}: its metadata state {} time points, but in a folder each file is one; set "
                    "input.axes ('ZYX' if the pages are z)",
                    first.path().string(), within.map.nt()));
  }
  std::erase_if(within.axes, [](const PageAxis& a) { return a.letter == 'T'; });
  return within;
}

/// Without input.axes, each file is a time point.
PageMap layout_by_files(const TiffMetadata& metadata, const PageFile& first, std::int64_t files,
                        const FrameOptions& options, SeriesInfo& info) {
  if (first.pages() == 1) {
    const auto beside = read_micromanager(info.path);
    throw InputError(fmt::format(
        "{}: a folder of {} single planes does not say whether they are z or t; set input.axes (--axes), "
        "for instance 'ZYX' (one volume), 'TYX' (a plane per time) or 'TZ10YX' (10 planes per "
        "time){}",
        info.path, files, ask_for_calibration(beside.value_or(metadata.calibration), options)));
  }
  const FileLayout within = layout_within(metadata, first, options, info);
  info.axes = fmt::format("T{}", axes_text(within.axes));
  return within.map.over_files(files, first.pages());
}

std::string counted_text(const PageAxes& axes) {
  std::vector<std::string> names;
  for (const PageAxis& axis : axes)
    if (axis.size > 1)
      names.emplace_back(axis.letter == 'T' ? "time" : axis.letter == 'Z' ? "planes" : "channels");
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k)
    text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  return text;
}

/// Adds a note if input.axes states another axis for the files than their names count.
void note_names(const std::vector<fs::path>& files, const PageAxes& axes, SeriesInfo& info) {
  const char counted = counted_axis(files);
  const auto slowest =
      std::find_if(axes.begin(), axes.end(), [](const PageAxis& axis) { return axis.size > 1; });
  if (counted == '\0' || slowest == axes.end() || slowest->letter == counted) return;
  info.notes.push_back(fmt::format(
      "the names ('{}' ...) count {}, but input.axes takes the files as {}: check it",
      files.front().filename().string(), counted_text({{counted, 2}}), counted_text({{slowest->letter, 2}})));
}

/// Throws InputError that names an existing file, since users often name the folder of a file or of a run.
[[noreturn]] void refuse_without_images(const fs::path& folder) {
  std::string example;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !entry->is_regular_file(ignored)) continue;
    const bool better = example.empty() || name == "tracks.h5" || name < example;
    if (better && example != "tracks.h5") example = name;
  }
  std::string_view what = what_to_do(lower_case(fs::path(example).extension().string()));
  if (what.empty()) what = "name a file in it";
  throw InputError(folder.string() + ": the folder holds no TIFF or PNG files (.tif, .tiff, .png)" +
                   (example.empty() ? "; check the path (input.path)"
                                    : fmt::format(", but for instance '{}'; {}", example, what)));
}

/// The layout that input.axes states.
PageMap layout_by_axes(const std::string& text, const fs::path& folder, const std::vector<fs::path>& files,
                       const TiffMetadata& metadata, const PageFile& first, SeriesInfo& info) {
  const PageAxes axes =
      axes_over_files(text, metadata, static_cast<std::int64_t>(files.size()), first.pages(), folder);
  info.axes = axes_text(axes);
  note_names(files, axes, info);
  return PageMap(axes);
}

/// The layout of files with names that count t, z and c: one plane each, or one stack of a channel.
PageMap layout_by_names(const PlaneGrid& grid, const std::vector<fs::path>& files,
                        const TiffMetadata& metadata, const PageFile& first, const FrameOptions& options,
                        SeriesInfo& info) {
  info.notes.push_back(fmt::format("one {} per file: the names count {} ('{}' ...)",
                                   first.pages() == 1 ? "plane" : "stack", counted_text(grid.axes),
                                   files.front().filename().string()));
  if (grid.channels.size() > 1)
    info.notes.push_back(fmt::format("channels: {}", fmt::join(grid.channels, ", ")));
  if (first.pages() == 1) {
    info.axes = axes_text(grid.axes);
    return PageMap(grid.axes, grid.files);
  }
  const FileLayout within = layout_within(metadata, first, options, info);
  if (within.map.nc() != 1)
    throw InputError(
        fmt::format("{}: its metadata state {} channels, and the names count channels, too; set input.axes",
                    first.path().string(), within.map.nc()));
  const std::int64_t nt = grid.axes[0].size, nz = within.map.nz(), nc = grid.axes[2].size;
  std::vector<std::int64_t> pages;
  for (std::int64_t t = 0; t < nt; ++t)
    for (std::int64_t z = 0; z < nz; ++z)
      for (std::int64_t c = 0; c < nc; ++c)
        pages.push_back(grid.files[static_cast<std::size_t>(t * nc + c)] * first.pages() +
                        within.map.page(0, z, 0));
  info.axes = axes_text({{'T', nt}, {'C', nc}, {'Z', nz}});
  return PageMap({{'T', nt}, {'Z', nz}, {'C', nc}}, std::move(pages));
}

/// Whether the names place each file: one plane, or all planes of a channel at one time.
bool places_files(const PlaneGrid& grid, const PageFile& first) {
  return first.pages() == 1 || (grid.axes[1].size == 1 && grid.axes[2].size > 1);
}

/// The layout of files with names that count time points.
PageMap layout_by_numbers(const fs::path& folder, const std::vector<fs::path>& files,
                          const TiffMetadata& metadata, const PageFile& first, const FrameOptions& options,
                          SeriesInfo& info) {
  check_numbered(files);
  if (const char axis = counted_axis(files); axis == 'Z' || axis == 'C')
    throw InputError(
        fmt::format("{}: the names count {} ('{}' ...), but each file of {} pages would be a time point; set "
                    "input.axes, for instance '{}YX'",
                    folder.string(), axis == 'Z' ? "planes" : "channels", files.front().filename().string(),
                    first.pages(), axis == 'Z' ? "ZT" : "CZ"));
  return layout_by_files(metadata, first, static_cast<std::int64_t>(files.size()), options, info);
}

}  // namespace

bool is_image_folder(const fs::path& folder) {
  const std::vector<fs::path> files = list_images(folder);
  return !files.empty() && is_page_head(InputFile(files.front()).head(16));
}

std::unique_ptr<FrameSource> open_folder_frames(const fs::path& folder, const FrameOptions& options) {
  const std::vector<fs::path> files = list_images(folder);
  if (files.empty())
    if (auto series = open_folder_series(folder, options)) return series;
  if (files.empty()) refuse_without_images(folder);
  if (files.size() == 1) return open_paged_file(files.front(), options);
  const auto grid = options.axes ? std::nullopt : grid_of_names(files);
  const auto first_file = open_page_file(files.front());
  PageFile& first = *first_file;
  const TiffMetadata metadata = consult_metadata(first, options);
  const auto count = static_cast<std::int64_t>(files.size());
  if (!metadata.set_files.empty() && !options.axes)
    return open_file_set(files.front(), first, metadata, options);
  SeriesInfo info;
  info.path = folder.string();
  info.format = fmt::format("folder of {} {} files", count, metadata.format);
  info.notes = metadata.notes;
  PageMap map = options.axes ? layout_by_axes(*options.axes, folder, files, metadata, first, info)
                : grid && places_files(*grid, first)
                    ? layout_by_names(*grid, files, metadata, first, options, info)
                    : layout_by_numbers(folder, files, metadata, first, options, info);
  Calibration calibration = metadata.calibration;
  if (const auto beside = read_micromanager(folder)) calibration = *beside;
  auto pages = std::make_shared<FolderPages>(files, first.pages(), first.format());
  for (const fs::path& file : files) {
    const auto opened = open_page_file(file);
    pages->check(*opened);
    if (!options.voxel_um)
      check_same_scale(metadata.calibration, consult_metadata(*opened, options).calibration, files[0], file);
  }
  describe_layout(info, map, first.format());
  choose_channel(info, options);
  apply_calibration(info, calibration, options);
  const auto reader_of = [](std::shared_ptr<FolderPages> of) -> PageReader {
    return [of](std::int64_t page, std::span<std::byte> out) { of->read(page, out); };
  };
  return std::make_unique<PagedFrames>(
      std::move(info), std::move(map), reader_of(pages),
      [=, of_file = first.pages(), format = first.format()] {
        return reader_of(std::make_shared<FolderPages>(files, of_file, format));
      });
}

}  // namespace motes::io::detail
