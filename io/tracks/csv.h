#pragma once
/// Rows of a delimited text, one at a time, without copying.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// Comma, semicolon or tab, whichever the header holds most of, or blanks where it holds none of these, or
/// what a first line `sep=;` says; fields may be quoted ("" within quotes is a quote); LF, CRLF or CR; a byte
/// order mark, blank lines, rows of empty fields, lines that start with '#' and a title underlined with '='
/// are passed over. Text in gzip is inflated, UTF-16 with a byte order mark becomes UTF-8, and so do the
/// names of a header in Latin-1; decimal commas become points where the comma does not separate. Where blanks
/// or tabs separate and the first row has one field more than the header, it starts with a row name, whose
/// column is called "" (R's write.table).
class CsvReader {
 public:
  /// Reads the file and its header. Throws InputError for a file that cannot be read, holds no header, is
  /// compressed or is not text.
  explicit CsvReader(const std::filesystem::path& path);

  const std::vector<std::string>& header() const { return header_; }
  /// Moves to the next row; false at the end. Throws InputError (file:line) for a row whose length is not the
  /// header's, and for a quote that is never closed.
  bool next();
  /// The current row's fields, trimmed and unquoted; valid until the following next().
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::int64_t line() const { return line_; }  ///< of the current row, from 1
  std::string where() const { return where(line_); }
  std::string where(std::int64_t line) const;
  bool decimal_commas() const { return decimal_commas_; }  ///< numbers were written so

  char delimiter() const { return delimiter_; }
  /// The whole text, and where in it the row after the current one begins.
  std::string_view text() const { return text_; }
  std::size_t position() const { return at_; }
  std::int64_t next_line() const { return next_line_; }  ///< the number of the line there
  /// Passes over text up to `position` that was read elsewhere: whole rows of one line each. The text before
  /// it may be given back to the system, so that a large file and what is read of it need not both fit.
  void skip_rows(std::size_t position, std::size_t rows);

 private:
  bool next_row();
  void take_separator_line();
  void name_row_names();
  void skip_blank_and_comment_lines();
  void skip_line();
  void skip_underlined_title();
  void end_line();
  bool at_line_end() const;
  std::string_view read_field();
  std::string_view read_quoted_field();

  void release_text();

  std::string path_;
  std::string text_;
  std::size_t released_ = 0;  ///< bytes of the text that were returned to the system
  std::size_t at_ = 0;
  std::int64_t next_line_ = 1;
  std::int64_t line_ = 1;
  char delimiter_ = 0;  ///< 0: not known yet
  bool decimal_commas_ = false;
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  ///< what fields_ views where a field held doubled quotes
};

}  // namespace motes::io::detail
