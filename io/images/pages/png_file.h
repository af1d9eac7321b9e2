#pragma once
/// A PNG as a page of grey values.

#include "io/images/input_file.h"
#include "io/images/pages/page_file.h"

namespace motes::io::detail {

/// Whether the bytes begin a PNG.
bool is_png_head(std::string_view head);

/// Grey values of 1, 2, 4 and 8 bits become u8 (over its whole range, as the standard says, so that files
/// which an optimiser has made smaller keep their values), those of 16 bits u16. Colours and palettes are
/// read if red, green and blue are equal, and transparency if no pixel is transparent.
class PngFile : public PageFile {
 public:
  /// Reads the part before the pixels. Throws InputError for what is damaged, or larger than the file can
  /// hold.
  explicit PngFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const override { return file_.path(); }
  std::string_view kind() const override { return "PNG"; }
  std::int64_t pages() const override { return 1; }
  const PageFormat& format() const override { return format_; }
  std::int64_t most_pages() const override { return 1; }

  /// Throws InputError, also for colours and transparent pixels, with the place of the first one.
  void read_page(std::int64_t page, std::span<std::byte> out) override;

 private:
  InputFile file_;
  PageFormat format_;
};

}  // namespace motes::io::detail
