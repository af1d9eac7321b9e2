/// A TIFF is a linked list of directories, one per page: an entry count, the entries (12 bytes each; in
/// BigTIFF 20) and the offset of the next directory, 0 at the end. libtiff finds page n by walking the list
/// from the start, which costs O(n^2) for a series of n pages. So the list is walked once here, and pages are
/// then addressed by offset.

#include "io/images/tiff/directories.h"

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <unordered_set>

#include <motes/base/errors.h>

namespace motes::io::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "written for little-endian machines");

/// Sizes in the two dialects, in bytes.
struct Dialect {
  std::size_t count, entry, offset;
};
constexpr Dialect kClassic{2, 12, 4};
constexpr Dialect kBig{8, 20, 8};

class ChainReader {
 public:
  explicit ChainReader(const InputFile& file) : file_(file) {
    const std::string head = file.head(16);
    if (!is_tiff_head(head)) throw InputError(file.path().string() + ": this is not a TIFF file");
    big_endian_ = head[0] == 'M';
    dialect_ = head[big_endian_ ? 3 : 2] == 43 ? kBig : kClassic;
    first_ = number(dialect_.offset, dialect_.offset, 0);
  }

  bool big_endian() const { return big_endian_; }
  std::uint64_t first() const { return first_; }

  /// The offset stored after the directory at `offset`: that of the next one.
  std::uint64_t next(std::uint64_t offset, std::size_t page) const {
    const std::uint64_t entries = number(offset, dialect_.count, page);
    if (entries == 0 || entries > file_.size() / dialect_.entry) fail(offset, page);
    return number(offset + dialect_.count + entries * dialect_.entry, dialect_.offset, page);
  }

  [[noreturn]] void fail(std::uint64_t offset, std::size_t page) const {
    throw InputError(file_.path().string() + ": page " + std::to_string(page + 1) +
                     ": no directory at byte " + std::to_string(offset) + " of " +
                     std::to_string(file_.size()) +
                     ": the file is truncated or damaged; copy or export it again");
  }

 private:
  std::uint64_t number(std::uint64_t offset, std::size_t bytes, std::size_t page) const {
    std::array<std::byte, 8> raw{};
    if (!file_.read_at(offset, std::span(raw).first(bytes))) fail(offset, page);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t shift = 8 * (big_endian_ ? bytes - 1 - i : i);
      value |= std::to_integer<std::uint64_t>(raw[i]) << shift;
    }
    return value;
  }

  const InputFile& file_;
  bool big_endian_ = false;
  Dialect dialect_ = kClassic;
  std::uint64_t first_ = 0;
};

}  // namespace

bool is_tiff_head(std::string_view head) {
  using namespace std::string_view_literals;
  return head.starts_with("II\x2A\0"sv) || head.starts_with("MM\0\x2A"sv) ||
         head.starts_with("II\x2B\0\x08\0\0\0"sv) || head.starts_with("MM\0\x2B\0\x08\0\0"sv);
}

TiffDirectories scan_directories(const InputFile& file) {
  const ChainReader chain(file);
  TiffDirectories found{chain.big_endian(), {}};
  std::unordered_set<std::uint64_t> seen;
  for (std::uint64_t offset = chain.first(); offset != 0;) {
    const std::size_t page = found.offsets.size();
    if (!seen.insert(offset).second) {
      throw InputError(file.path().string() + ": page " + std::to_string(page + 1) +
                       ": its directory (byte " + std::to_string(offset) +
                       ") belongs to an earlier page: the file is damaged; copy or export it again");
    }
    const std::uint64_t next = chain.next(offset, page);
    found.offsets.push_back(offset);
    offset = next;
  }
  if (found.offsets.empty()) throw InputError(file.path().string() + ": has no page; export it again");
  return found;
}

}  // namespace motes::io::detail
