/// Parses rows of plain numbers in blocks, on all threads.

#include "io/tracks/tables/plain_rows.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include <omp.h>

#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>

namespace motes::io::detail {
namespace {

constexpr std::int64_t kMostIdentity = std::numeric_limits<std::int64_t>::max();

/// The position after the first line feed at or after `at`, or the end of the text.
std::size_t line_end(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  const void* const found = std::memchr(text.data() + at, '\n', text.size() - at);
  return found == nullptr ? text.size()
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1;
}

/// Parses the plain rows at the start of a block. Values of the first row that is not plain are removed.
class BlockParser {
 public:
  BlockParser(std::string_view text, const PlainLayout& layout, PlainBlock& block)
      : layout_(layout), block_(block), text_(text.data()), end_(text.data() + block.end) {
    block_.numbers.resize(layout.fields.size());
    block_.identities.resize(layout.fields.size());
  }

  void run() {
    reserve();
    const char* row = text_ + block_.begin;
    while (row != end_) {
      const char* const next = parse_row(row);
      if (next == nullptr) break;
      row = next;
      ++block_.rows;
    }
    block_.plain_end = static_cast<std::size_t>(row - text_);
    cut_off_partial_row();
  }

 private:
  /// Parses a row; returns the start of the next one, or null if it is not plain.
  const char* parse_row(const char* at) {
    if (*at == '#' || *at == ' ') return nullptr;  // a comment, or perhaps a blank line
    const std::size_t columns = layout_.fields.size();
    for (std::size_t column = 0; column < columns; ++column) {
      at = parse_field(column, at);
      if (at == nullptr) return nullptr;
      if (column + 1 == columns) break;
      if (at == end_ || *at != layout_.delimiter) return nullptr;
      ++at;
    }
    if (at == end_) return at;
    if (*at == '\r') ++at;
    return at != end_ && *at == '\n' ? at + 1 : nullptr;
  }

  /// Parses a field; returns its end, or null if it is not plain.
  const char* parse_field(std::size_t column, const char* at) {
    while (at != end_ && *at == ' ') ++at;
    switch (layout_.fields[column]) {
      case PlainField::skip:
        return skip_field(at);
      case PlainField::frame:
        return parse_whole(at, 0, std::numeric_limits<std::int32_t>::max(), block_.frame);
      case PlainField::identity:
        return parse_whole(at, 0, kMostIdentity, block_.identities[column]);
      case PlainField::parent:
        return parse_whole(at, -1, kMostIdentity, block_.identities[column]);
      case PlainField::coordinate:
        return parse_number(at, column, layout_.most_coordinate);
      case PlainField::number:
        if (at == end_ || *at == layout_.delimiter || *at == '\n' || *at == '\r') {
          block_.numbers[column].push_back(std::numeric_limits<double>::quiet_NaN());
          return at;
        }
        return parse_number(at, column, std::numeric_limits<double>::infinity());
    }
    return nullptr;
  }

  const char* skip_field(const char* at) const {
    if (at != end_ && *at == '"') return nullptr;
    while (at != end_ && *at != layout_.delimiter && *at != '\n' && *at != '\r') ++at;
    return at;
  }

  template <class T>
  const char* parse_whole(const char* at, std::int64_t least, std::int64_t most, std::vector<T>& out) const {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end_, value);
    if (error != std::errc() || value < least || value > most) return nullptr;
    out.push_back(static_cast<T>(value));
    const char* after = stop;  // "3.0" is an integer, too
    if (after != end_ && *after == '.') {
      ++after;
      while (after != end_ && *after == '0') ++after;
      constexpr std::int64_t kExact = 9007199254740992;  // 2^53, as in parse_integer
      if (after == stop + 1 || value > kExact) return nullptr;
    }
    return after;
  }

  /// Parses a number. Finite numbers must be at most `most`; if that is infinite, others are allowed, too.
  const char* parse_number(const char* at, std::size_t column, double most) {
    double value = 0;
    const auto [stop, error] = std::from_chars(at, end_, value);
    if (error != std::errc()) return nullptr;
    if (std::isfinite(most) && !(std::abs(value) <= most)) return nullptr;
    block_.numbers[column].push_back(value);
    return stop;
  }

  /// Reserves memory for all rows, from the length of the first.
  void reserve() {
    const std::string_view text(text_, block_.end);
    const std::size_t first = line_end(text, block_.begin) - block_.begin;
    const std::size_t rows = (block_.end - block_.begin) / std::max<std::size_t>(first, 1) * 9 / 8 + 1;
    block_.frame.reserve(rows);
    for (std::size_t column = 0; column < layout_.fields.size(); ++column) {
      const PlainField field = layout_.fields[column];
      if (field == PlainField::coordinate || field == PlainField::number)
        block_.numbers[column].reserve(rows);
      if (field == PlainField::identity || field == PlainField::parent)
        block_.identities[column].reserve(rows);
    }
  }

  void cut_off_partial_row() {
    const auto cut = [&](auto& values) { values.resize(std::min(values.size(), block_.rows)); };
    cut(block_.frame);
    std::for_each(block_.numbers.begin(), block_.numbers.end(), cut);
    std::for_each(block_.identities.begin(), block_.identities.end(), cut);
  }

  const PlainLayout& layout_;
  PlainBlock& block_;
  const char* const text_;
  const char* const end_;
};

}  // namespace

std::vector<PlainBlock> read_plain_blocks(std::string_view text, std::size_t begin, const PlainLayout& layout,
                                          std::size_t blocks, std::size_t bytes) {
  std::vector<PlainBlock> out;
  for (std::size_t at = begin; out.size() < blocks && at < text.size(); at = out.back().end) {
    out.emplace_back();
    out.back().begin = at;
    out.back().end = line_end(text, at + bytes - 1);
  }
  parallel_for(thread_count({omp_get_max_threads()}), static_cast<std::int64_t>(out.size()),
               [&](std::int64_t i) { BlockParser(text, layout, out[static_cast<std::size_t>(i)]).run(); });
  return out;
}

}  // namespace motes::io::detail
