#pragma once
/// A file whose pages all have the same format: a TIFF, or a PNG, which is a single page.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <motes/io/frame_source.h>

#include "io/images/sample_type.h"

namespace motes::io::detail {

struct PageFormat {
  std::int64_t width = 0, height = 0;
  SampleType stored = SampleType::u8;  ///< pages are read as voxel_type(stored)
  bool inverted = false;  ///< stored with 0 as white (MINISWHITE); pages are read with 0 as black
  VoxelType type() const { return voxel_type(stored); }
  friend bool operator==(const PageFormat&, const PageFormat&) = default;
};

/// The resolution tags as stored: pixels per unit.
struct PageResolution {
  enum class Unit { none, inch, centimetre };
  std::optional<double> x, y;
  Unit unit = Unit::none;
};

class PageFile {
 public:
  virtual ~PageFile() = default;

  virtual const std::filesystem::path& path() const = 0;
  virtual std::string_view kind() const = 0;  ///< "TIFF" or "PNG"
  virtual std::int64_t pages() const = 0;
  virtual const PageFormat& format() const = 0;  ///< of the first page, which all must share

  /// Samples per pixel of the first page. Pages are read as grey: red, green and blue must be equal.
  virtual int samples() const { return 1; }

  /// An upper bound of the pages that the file can hold, from its size and compression: one that claims more
  /// is damaged.
  virtual std::int64_t most_pages() const = 0;

  /// The text that may hold metadata of the series; empty if there is none.
  const std::string& description() const { return description_; }
  const PageResolution& resolution() const { return resolution_; }

  /// ImageJ and tifffile store series beyond 4 GB as one directory followed by the raw voxels of all pages.
  /// Reads the file in this way, for up to `wanted` pages, and returns how many it has room for (then also
  /// pages()). Other files are not changed.
  virtual std::int64_t take_as_contiguous(std::int64_t /*wanted*/) { return pages(); }

  /// Decodes a page into `out`, the bytes of its voxels, in the machine's byte order. Throws InputError
  /// (file, page, reason) when the page is truncated, damaged, unlike the first, coloured or transparent, or
  /// its values do not fit the voxel type (convert_samples).
  virtual void read_page(std::int64_t page, std::span<std::byte> out) = 0;

 protected:
  std::string description_;
  PageResolution resolution_;
};

/// Whether the first 16 bytes begin a file that open_page_file takes.
bool is_page_head(std::string_view head);

/// Opens a TIFF or PNG, told apart by content. Throws InputError for what is neither, is damaged, or holds
/// other samples than grey or RGB of one SampleType, with or without alpha; ResourceError when it may not be
/// read.
std::unique_ptr<PageFile> open_page_file(const std::filesystem::path& path);

}  // namespace motes::io::detail
