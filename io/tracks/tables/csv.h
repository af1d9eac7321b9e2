#pragma once
/// Rows of a delimited text, one at a time, without copying.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace motes::io::detail {

/// The delimiter is that of a first line `sep=;`, else the most frequent one of comma, semicolon and tab in
/// the header, else blanks. Fields may be quoted ("" within quotes is a quote). Lines end in LF, CRLF or CR.
/// A byte order mark, blank lines, rows of empty fields, lines that start with '#' and a title underlined
/// with '=' are skipped. Gzip is inflated; UTF-16 with a byte order mark and header names in Latin-1 are
/// converted to UTF-8. Decimal commas become points if the comma is not the delimiter. If the delimiter is a
/// blank or tab and the first row has one field more than the header, rows start with a row name, whose
/// column is called "" (R's write.table). If each whole line is one quoted field, its quotes are removed.
/// rapidSTORM's first line is the header.
class CsvReader {
 public:
  /// Reads the file and its header. Throws InputError if the file cannot be read, has no header, is
  /// compressed in another way, or is not text.
  explicit CsvReader(const std::filesystem::path& path);

  const std::vector<std::string>& header() const { return header_; }
  /// Moves to the next row; false at the end. Throws InputError (file:line) if a row has another number of
  /// fields than the header (but for a last one that is empty), or if a quote is never closed.
  bool next();
  /// The current row's fields, trimmed and unquoted; valid until the next call of next().
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::int64_t line() const { return line_; }  ///< line number of the current row, from 1
  std::string where() const { return where(line_); }
  std::string where(std::int64_t line) const;
  bool quoted_lines() const { return quoted_lines_; }      ///< whether each whole line was in quotes
  bool decimal_commas() const { return decimal_commas_; }  ///< whether numbers were written with them

  char delimiter() const { return delimiter_; }
  /// The whole text, and the position in it of the row after the current one.
  std::string_view text() const { return text_; }
  std::size_t position() const { return at_; }
  std::int64_t next_line() const { return next_line_; }  ///< the line number at position()
  /// Skips text up to `position` that was read elsewhere: whole rows of one line each. The skipped text may
  /// be returned to the system, so that a large file and its contents need not both fit into memory.
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
  bool decimal_commas_ = false, quoted_lines_ = false;
  bool commented_ = false;  ///< whether lines that start with '#' were skipped
  std::vector<std::string> header_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unquoted_;  ///< texts of fields with doubled quotes, which fields_ views
};

}  // namespace motes::io::detail
