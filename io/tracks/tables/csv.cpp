/// Separators, quotes and line ends of delimited text.

#include "io/tracks/tables/csv.h"

#include <algorithm>
#include <cstdint>

#include <motes/base/errors.h>
#include <motes/base/system/memory.h>

#include "io/files/encoding.h"
#include "io/files/gzip.h"
#include "io/files/text.h"
#include "io/tracks/tables/decimal_commas.h"
#include "io/tracks/tables/quoted_lines.h"
#include "io/tracks/tables/rapidstorm.h"

namespace motes::io::detail {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The most frequent delimiter of the line outside quotes; without any, a blank if there are words, else a
/// comma.
char guess_delimiter(std::string_view line) {
  std::size_t commas = 0, semicolons = 0, tabs = 0, blanks = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ',') ++commas;
    if (c == ';') ++semicolons;
    if (c == '\t') ++tabs;
    if (c == ' ') ++blanks;
    if (c == '\n' || c == '\r') break;
  }
  if (tabs > commas && tabs > semicolons) return '\t';
  if (blanks > 0 && commas == 0 && semicolons == 0) return ' ';
  return semicolons > commas ? ';' : ',';
}

void require_text(const std::string& path, std::string_view text) {
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) {
    throw InputError(path + ": this is not a text table (it has zero bytes); give a CSV file in UTF-8");
  }
}

/// The file's text in UTF-8 or another encoding of one byte per character.
std::string decoded_text(const std::filesystem::path& path) {
  std::string text = read_inflated(path);
  if (!is_utf16(text)) return text;
  auto decoded = utf8_of_utf16(text);
  if (!decoded)
    throw InputError(path.string() + ": begins as UTF-16, but is not valid UTF-16; save it as CSV in UTF-8");
  return std::move(*decoded);
}

}  // namespace

CsvReader::CsvReader(const std::filesystem::path& path) : path_(path.string()), text_(decoded_text(path)) {
  require_text(path_, text_);
  if (std::string_view(text_).starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  const std::string_view start = std::string_view(text_).substr(at_);
  header_ = rapidstorm_columns(start.substr(0, start.find_first_of("\r\n")));
  if (!header_.empty()) {
    delimiter_ = ' ';
    skip_line();
    return;
  }
  skip_blank_and_comment_lines();
  take_separator_line();
  skip_underlined_title();
  quoted_lines_ = unquote_lines(text_, at_);
  if (delimiter_ == 0) delimiter_ = guess_delimiter(std::string_view(text_).substr(at_));
  if (delimiter_ != ',') decimal_commas_ = replace_decimal_commas(text_, at_, delimiter_, path_);
  if (!next_row()) {
    throw InputError(path_ + ": the table is empty; it needs a header line with column names");
  }
  for (const std::string_view name : fields_)
    header_.push_back(is_utf8(name) ? std::string(name) : utf8_of_latin1(name));
  const auto is_number = [](const std::string& name) { return parse_double(name).has_value(); };
  if (std::all_of(header_.begin(), header_.end(), is_number)) {
    throw InputError(where() + ": no header; put a line with the column names (frame,x,y,z ...) first" +
                     (commented_ ? "; if one is there, remove the '#' before it" : ""));
  }
  name_row_names();
}

/// Reads Excel's first line: sep=;
void CsvReader::take_separator_line() {
  std::string_view line = std::string_view(text_).substr(at_);
  line = line.substr(0, line.find_first_of("\r\n"));
  const std::string_view quote = line.starts_with('"') ? "\"" : "";
  line.remove_prefix(quote.size());
  constexpr std::string_view kSeparators = ",;|\t ";
  if (line.size() < 5 || lower_case(line.substr(0, 4)) != "sep=" ||
      kSeparators.find(line[4]) == std::string_view::npos || line.substr(5) != quote)
    return;
  delimiter_ = line[4];
  skip_line();
  skip_blank_and_comment_lines();
}

void CsvReader::name_row_names() {
  if (delimiter_ != ' ' && delimiter_ != '\t') return;
  const std::size_t at = at_;
  const std::int64_t line = line_, next_line = next_line_;
  const bool named = next_row() && fields_.size() == header_.size() + 1 && !fields_.back().empty();
  at_ = at;
  line_ = line;
  next_line_ = next_line;
  if (named) header_.insert(header_.begin(), "");
}

std::string CsvReader::where(std::int64_t line) const {
  std::string place = path_;
  place += ':';
  append_number(place, line);
  return place;
}

bool CsvReader::next() {
  do {  // spreadsheets may append rows of empty fields
    if (!next_row()) return false;
  } while (std::all_of(fields_.begin(), fields_.end(), [](std::string_view field) { return field.empty(); }));
  // Programs that end each field with the delimiter may forget it in the header.
  if (fields_.size() == header_.size() + 1 && fields_.back().empty()) fields_.pop_back();
  if (fields_.size() != header_.size()) {
    throw InputError(
        where() + ": this row has " + std::to_string(fields_.size()) + " fields, the header has " +
        std::to_string(header_.size()) +
        (fields_.size() > header_.size()
             ? "; correct the row, or, if commas are decimal marks, separate columns by semicolons"
             : "; correct the row, or, if the table ends here, delete the rest"));
  }
  return true;
}

void CsvReader::skip_rows(std::size_t position, std::size_t rows) {
  at_ = position;
  next_line_ += static_cast<std::int64_t>(rows);
  constexpr std::size_t kWorthIt = std::size_t{16} << 20;
  if (at_ - released_ >= kWorthIt) release_text();
}

/// Returns whole pages of the text before the current position to the system; they read as zeros afterwards.
void CsvReader::release_text() {
  const std::uintptr_t page = system::page_size();
  const auto start = reinterpret_cast<std::uintptr_t>(text_.data());
  const std::uintptr_t first = (start + released_ + page - 1) / page * page;
  const std::uintptr_t last = (start + at_) / page * page;
  if (last > first) system::drop_pages(reinterpret_cast<void*>(first), last - first);
  released_ = at_;
}

bool CsvReader::next_row() {
  skip_blank_and_comment_lines();
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  fields_.clear();
  unquoted_.clear();
  fields_.push_back(read_field());
  while (at_ < text_.size() && text_[at_] == delimiter_) {
    ++at_;
    fields_.push_back(read_field());
  }
  if (delimiter_ == ' ' && fields_.back().empty()) fields_.pop_back();  // blanks at the end of the line
  end_line();
  return true;
}

void CsvReader::skip_blank_and_comment_lines() {
  while (at_ < text_.size()) {
    std::size_t first = at_;
    while (first < text_.size() && text_[first] == ' ') ++first;
    const bool blank = first == text_.size() || text_[first] == '\n' || text_[first] == '\r';
    if (!blank && text_[at_] != '#') return;
    commented_ = commented_ || !blank;
    skip_line();
  }
}

void CsvReader::skip_line() {
  while (!at_line_end()) ++at_;
  end_line();
}

/// Skips such a title, with which Imaris begins its tables.
void CsvReader::skip_underlined_title() {
  const std::size_t end = text_.find('\n', at_);
  if (end == std::string::npos || end + 1 >= text_.size() || text_[end + 1] != '=') return;
  const std::size_t stop = std::min(text_.find('\n', end + 1), text_.size());
  if (trimmed(std::string_view(text_).substr(end + 1, stop - end - 1)).find_first_not_of('=') !=
      std::string_view::npos)
    return;
  skip_line();
  skip_line();
  skip_blank_and_comment_lines();
}

void CsvReader::end_line() {
  if (at_ >= text_.size()) return;
  if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
  ++at_;
  ++next_line_;
}

bool CsvReader::at_line_end() const {
  return at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r';
}

std::string_view CsvReader::read_field() {
  while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  if (at_ < text_.size() && text_[at_] == '"') return read_quoted_field();
  const char* const begin = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  const char* stop = begin;
  while (stop != end && *stop != delimiter_ && *stop != '\n' && *stop != '\r') ++stop;
  at_ += static_cast<std::size_t>(stop - begin);
  return trimmed(std::string_view(begin, static_cast<std::size_t>(stop - begin)));
}

std::string_view CsvReader::read_quoted_field() {
  const std::size_t begin = ++at_;
  bool doubled = false;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '\n') ++next_line_;
    if (text_[at_] != '"') continue;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
    doubled = true;
    ++at_;
  }
  if (at_ >= text_.size()) throw InputError(where() + ": a quote is never closed; correct the row");
  std::string_view field = std::string_view(text_).substr(begin, at_ - begin);
  ++at_;
  while (delimiter_ != ' ' && at_ < text_.size() && text_[at_] == ' ') ++at_;
  if (!at_line_end() && text_[at_] != delimiter_) {
    throw InputError(where() + ": text after a closing quote; double the quotes inside quoted fields");
  }
  if (!doubled) return trimmed(field);
  std::string& copy = unquoted_.emplace_back();
  for (std::size_t i = 0; i < field.size(); ++i) {
    copy += field[i];
    if (field[i] == '"') ++i;
  }
  return trimmed(copy);
}

}  // namespace motes::io::detail
