#pragma once
/// Maps planes (t, z, c) to the pages of a file, or of a folder of files.

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// One axis along which pages follow each other: T, Z or C.
struct PageAxis {
  char letter;
  std::int64_t size = 0;  ///< 0: not stated
  friend bool operator==(const PageAxis&, const PageAxis&) = default;
};
using PageAxes = std::vector<PageAxis>;  ///< slowest first; Y and X, which lie within a page, are left out

/// Reads input.axes: letters of T, Z, C, each at most once, then YX; a number after a letter is its size
/// ("TZ10YX"). Throws UsageError naming input.axes.
PageAxes parse_axes(std::string_view text);

/// "TZCYX": the letters without those of size 1.
std::string axes_text(const PageAxes& axes);

/// The product of the sizes; none if one is not stated or the product overflows int64.
std::optional<std::int64_t> page_count(const PageAxes& axes);

/// Completes the axes of input.axes: sizes are taken from the file's own axes by letter (`known`), or by
/// position if the file does not name axes (`leading_shape`); the last open one follows from the number of
/// pages. Throws UsageError naming input.axes if a size stays open or the product is not `pages`.
PageAxes complete_axes(PageAxes given, const PageAxes& known, const std::vector<std::int64_t>& leading_shape,
                       std::int64_t pages, const std::filesystem::path& source);

/// Plane (t, z, c) -> page. Regular orders are three strides, irregular ones a table.
class PageMap {
 public:
  PageMap() = default;
  /// All sizes must be stated. Missing letters have size 1.
  explicit PageMap(const PageAxes& axes);
  /// `table` [nt * nz * nc], c fastest.
  PageMap(const PageAxes& axes, std::vector<std::int64_t> table);

  std::int64_t nt() const { return size_[0]; }
  std::int64_t nz() const { return size_[1]; }
  std::int64_t nc() const { return size_[2]; }
  std::int64_t page(std::int64_t t, std::int64_t z, std::int64_t c) const;

  /// The same planes for each of `files` files of `pages` pages, as time points. Needs nt() == 1.
  PageMap over_files(std::int64_t files, std::int64_t pages) const;

 private:
  std::array<std::int64_t, 3> size_{1, 1, 1};    // t, z, c
  std::array<std::int64_t, 3> stride_{0, 0, 0};  // in pages
  std::vector<std::int64_t> table_;
};

}  // namespace motes::io::detail
