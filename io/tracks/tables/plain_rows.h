#pragma once
/// Rows of plain numbers, parsed by all threads. This is the fast path of tables; csv.h reads other rows.
///
/// A row is plain if every wanted field is a number for std::from_chars, nothing is quoted, and the number of
/// fields is that of the header. A block of text is read up to its first row that is not plain; the result
/// equals that of reading these rows one at a time.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// How to read a column.
enum class PlainField {
  skip,        ///< any text without quotes
  frame,       ///< an integer from 0 to 2147483647
  coordinate,  ///< a finite number of at most PlainLayout::most_coordinate
  number,      ///< a number; NaN if the field is empty
  identity,    ///< an integer from 0
  parent       ///< an integer from -1
};

struct PlainLayout {
  char delimiter = ',';
  std::vector<PlainField> fields;  ///< [columns]
  double most_coordinate = 0;
};

/// The plain rows at the start of a block.
struct PlainBlock {
  std::size_t begin = 0,
              end = 0;        ///< the block in the text; `end` follows a line end or is the end of the text
  std::size_t plain_end = 0;  ///< start of the first row that is not plain; `end` if all are
  std::size_t rows = 0;       ///< number of plain rows; each is one line
  std::vector<std::int32_t> frame;
  std::vector<std::vector<double>> numbers;           ///< coordinate and number columns, by column
  std::vector<std::vector<std::int64_t>> identities;  ///< identity and parent columns, by column
};

/// Reads successive blocks from `begin` on: about `blocks` of `bytes` each, or fewer at the end of the text.
/// A block ends after the first line feed beyond its size. O(bytes) on all threads.
std::vector<PlainBlock> read_plain_blocks(std::string_view text, std::size_t begin, const PlainLayout& layout,
                                          std::size_t blocks, std::size_t bytes);

}  // namespace motes::io::detail
