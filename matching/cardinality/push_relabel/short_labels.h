#pragma once
/// Distance labels in one or two bytes, many of which are read at once, and what a row learns from those of
/// its columns.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include <motes/matching/problem.h>

namespace motes::matching::detail {

/// Two labels with a special meaning: the greatest one stands for "no path", the one below it for "at least
/// this far".
template <class Label>
inline constexpr Label kNoShortPath = std::numeric_limits<Label>::max();
template <class Label>
inline constexpr Label kShortFar = kNoShortPath<Label> - 1;

/// A row's first column of least label. If no column has a path, `col` is meaningless.
struct Offer {
  Index col;
  std::uint16_t label, second;  ///< the least label, and the least of the other columns
};

/// The two least labels of a list, found without a branch, which would be mispredicted once per row.
class LeastTwo {
 public:
  explicit LeastTwo(std::uint16_t no_path) : best_(word_of(no_path, 0)), second_(best_) {}
  void take(std::uint16_t label, std::uint64_t place) {
    const std::uint64_t word = word_of(label, place), larger = std::max(best_, word);
    best_ = std::min(best_, word);
    second_ = std::min(second_, larger);
  }
  /// The label of another column.
  void take_second(std::uint16_t label) { second_ = std::min(second_, word_of(label, 0)); }
  /// `list`, the columns that were read, is not empty.
  Offer of(const Index* list) const { return {list[best_ & kPlaces], label_of(best_), label_of(second_)}; }

 private:
  static constexpr int kShift = 48;
  static constexpr std::uint64_t kPlaces = (std::uint64_t{1} << kShift) - 1;
  static std::uint64_t word_of(std::uint64_t label, std::uint64_t place) { return label << kShift | place; }
  static std::uint16_t label_of(std::uint64_t word) { return static_cast<std::uint16_t>(word >> kShift); }
  std::uint64_t best_, second_;  ///< label and place
};

/// Whether the bit of a vertex is set.
inline bool has_bit(const std::uint32_t* bits, Index v) { return (bits[v >> 5] >> (v & 31) & 1) != 0; }
/// Sets the bit of a vertex; returns whether it was not set before.
inline bool set_bit(std::uint32_t* bits, Index v) {
  std::uint32_t& word = bits[static_cast<std::size_t>(v) / 32];
  const std::uint32_t before = word;
  word |= std::uint32_t{1} << (v & 31);
  return word != before;
}

}  // namespace motes::matching::detail
