#pragma once
/// Rows of plain numbers, parsed by all threads: the fast path for tables, whose other rows csv.h reads.
///
/// A row is plain where every field that is wanted is a number as std::from_chars reads it, nothing is
/// quoted, and the number of fields is the header's. A block of text is read up to its first row that is not
/// plain; what the block gives is then what reading those rows one at a time gives.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// What is read of one column.
enum class PlainField {
  skip,        ///< any text without quotes
  frame,       ///< a whole number from 0 to 2147483647
  coordinate,  ///< a finite number of at most PlainLayout::most_coordinate
  number,      ///< a number; NaN where the field is empty
  identity,    ///< a whole number from 0
  parent       ///< a whole number from -1
};

struct PlainLayout {
  char delimiter = ',';
  std::vector<PlainField> fields;  ///< [columns]
  double most_coordinate = 0;
};

/// The plain rows at the start of a block.
struct PlainBlock {
  std::size_t begin = 0, end = 0;  ///< the block in the text; `end` follows a line end or is the text's
  std::size_t plain_end = 0;       ///< where the first row that is not plain begins; `end` where all are
  std::size_t rows = 0;            ///< plain ones; each is one line
  std::vector<std::int32_t> frame;
  std::vector<std::vector<double>> numbers;           ///< coordinate and number columns, by column
  std::vector<std::vector<std::int64_t>> identities;  ///< identity and parent columns, by column
};

/// Blocks that follow one another from `begin`, about `blocks` of `bytes` each or fewer where the text ends;
/// a block ends at the first line feed from there on. O(bytes) on all threads.
std::vector<PlainBlock> read_plain_blocks(std::string_view text, std::size_t begin, const PlainLayout& layout,
                                          std::size_t blocks, std::size_t bytes);

}  // namespace motes::io::detail
