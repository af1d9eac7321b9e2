#pragma once
/// A TIFF or BigTIFF whose pages all have the same format. Directories are indexed once; pages are read in
/// any order.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "io/images/pages/page_file.h"

namespace motes::io::detail {

class TiffFile : public PageFile {
 public:
  /// Reads the directories' places (O(pages)) and the first page's tags. Throws as open_page_file does.
  explicit TiffFile(const std::filesystem::path& path);
  ~TiffFile() override;

  const std::filesystem::path& path() const override;
  std::string_view kind() const override { return "TIFF"; }
  std::int64_t pages() const override;
  const PageFormat& format() const override;
  int samples() const override;
  std::int64_t most_pages() const override;
  /// A file of several directories, or a compressed one, is not changed.
  std::int64_t take_as_contiguous(std::int64_t wanted) override;
  void read_page(std::int64_t page, std::span<std::byte> out) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io::detail
