#pragma once
/// A TIFF or BigTIFF whose pages all have the same format. Directories are indexed once; pages are read in
/// any order.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

class TiffFile {
 public:
  /// Reads the directories' places (O(pages)) and the first page's tags. Throws InputError for what is not
  /// TIFF, is damaged, or holds other samples than one SampleType per pixel; ResourceError when it may not be
  /// read.
  explicit TiffFile(const std::filesystem::path& path);
  ~TiffFile();
  TiffFile(TiffFile&&) noexcept;
  TiffFile& operator=(TiffFile&&) noexcept;

  const std::filesystem::path& path() const;
  std::int64_t pages() const;
  const PageFormat& format() const;  ///< of the first page, which all must share
  std::int64_t page_bytes() const;   ///< of a page's voxels
  const std::string& description() const;
  const PageResolution& resolution() const;

  /// ImageJ and tifffile store series beyond 4 GB as one directory followed by the raw voxels of all pages.
  /// Reads the file in this way, for up to `wanted` pages, and returns how many it has room for (then also
  /// pages()). A file of several directories, or a compressed one, is not changed.
  std::int64_t take_as_contiguous(std::int64_t wanted);

  /// An upper bound of the pages that the file can hold, from its size and compression: one that claims more
  /// is damaged.
  std::int64_t most_pages() const;

  /// Decodes a page into `out` [page_bytes()], in the machine's byte order. Throws InputError (file, page,
  /// reason) when the page is truncated, damaged or unlike the first, or its values do not fit the voxel type
  /// (convert_samples).
  void read_page(std::int64_t page, std::span<std::byte> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io::detail
