/// MatrixMarket (Boisvert, Pozo & Remington 1996): a banner, comments, a line of sizes, one entry per line.

#include "io/problems/matrix_market.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>

#include <zlib.h>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/io/atomic_file.h>
#include <motes/io/input_policy.h>
#include <motes/matching/matching_weight.h>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

using matching::Cost;
using matching::Index;
using matching::Offset;

/// Text of numbers compresses ten- to thirtyfold; files that unpack to more than this factor are rejected.
constexpr std::size_t kMostUnpacked = 64, kSmallText = std::size_t{64} << 20;
/// Memory allowed for rows and columns without entries, in addition to that of the text.
constexpr std::size_t kBytesPerVertex = 16, kBytesPerCharacter = 1100, kSmallProblem = std::size_t{256} << 20;

/// The file's text, decompressed if it is gzip (zlib passes plain files through).
std::string unpacked_text(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  const std::size_t most = unknown || input_policy().trusted
                               ? std::numeric_limits<std::size_t>::max()
                               : kMostUnpacked * static_cast<std::size_t>(size) + kSmallText;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw InputError(path.string() + ": cannot be read; check the name and permissions");
  gzbuffer(file, 1U << 18);
  std::string text;
  std::size_t used = 0;
  int got = 0;
  do {
    if (used == text.size()) text.resize(std::max<std::size_t>(std::size_t{1} << 20, text.size() * 2));
    got = gzread(file, text.data() + used,
                 static_cast<unsigned>(std::min<std::size_t>(text.size() - used, std::size_t{1} << 30)));
    used += got > 0 ? static_cast<std::size_t>(got) : 0;
  } while (got > 0 && used <= most);
  int error = Z_OK;
  gzerror(file, &error);
  gzclose_r(file);
  if (used > most)
    throw InputError(path.string() + ": unpacks to more than " + std::to_string(kMostUnpacked) +
                     " times its size; if you trust it, unpack it first (gunzip -k)");
  if (got < 0 || (error != Z_OK && error != Z_STREAM_END))
    throw InputError(path.string() + ": damaged gzip data after " + std::to_string(used) +
                     " bytes of text; fetch the file again");
  text.resize(used);
  return text;
}

class MatrixMarket {
 public:
  explicit MatrixMarket(const std::filesystem::path& path)
      : path_(path.string()), text_(unpacked_text(path)) {}

  ProblemFile read() {
    const std::int64_t entries = read_head();
    ProblemFile out;
    out.symmetric = symmetric_;
    out.costs = array_ ? read_array() : read_coordinates(entries);
    return out;
  }

  matching::WeightedGraph read_weighted_graph() {
    weights_ = true;
    const std::int64_t entries = read_head();
    const auto kind = symmetric_ ? matching::GraphKind::general : matching::GraphKind::bipartite;
    if (array_) return {kind, complete_graph(), array_weights()};
    const std::vector<Entry> sorted = sorted_entries(entries);
    matching::WeightedGraph out{kind, graph_of(sorted), {}};
    const auto weights = [&](auto value) {
      std::vector<decltype(value(sorted[0]))> all;
      all.reserve(sorted.size());
      for (const Entry& e : sorted) all.push_back(value(e));
      out.weights = std::move(all);
    };
    if (integer_)
      weights([](const Entry& e) { return e.whole; });
    else if (!pattern_)
      weights([](const Entry& e) { return e.real; });
    return out;
  }

  matching::BipartiteGraph read_graph() {
    structure_ = true;
    const std::int64_t entries = read_head();
    if (array_) return matching::to_sparse(matching::view_of(read_array())).graph;
    return read_structure(entries);
  }

 private:
  /// Reads banner and sizes; returns the announced number of entries.
  std::int64_t read_head() {
    read_banner();
    next_line();
    Index entries_line_columns = array_ ? 2 : 3;
    std::int64_t sizes[3] = {0, 0, 0};
    for (Index k = 0; k < entries_line_columns; ++k) sizes[k] = size_field();
    end_of_line();
    if (sizes[0] > std::numeric_limits<Index>::max() - 1 || sizes[1] > std::numeric_limits<Index>::max() - 1)
      fail("more than 2^31 - 2 rows or columns");
    rows_ = static_cast<Index>(sizes[0]);
    cols_ = static_cast<Index>(sizes[1]);
    if (symmetric_ && rows_ != cols_) fail("a symmetric matrix must be square");
    const std::size_t vertices = static_cast<std::size_t>(sizes[0]) + static_cast<std::size_t>(sizes[1]);
    if (vertices * kBytesPerVertex > kBytesPerCharacter * text_.size() + kSmallProblem)
      fail("too many rows and columns for a file of this size");
    return sizes[2];
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(path_ + ":" + std::to_string(line_) + ": " + what);
  }

  void read_banner() {
    next_raw_line();
    const std::string banner = lower_case(rest_);
    std::vector<std::string> words;
    for (std::size_t k = 0; k < banner.size();) {
      const std::size_t begin = banner.find_first_not_of(" \t\r", k);
      if (begin == std::string::npos) break;
      k = std::min(banner.find_first_of(" \t\r", begin), banner.size());
      words.push_back(banner.substr(begin, k - begin));
    }
    if (words.size() < 5 || words[0] != "%%matrixmarket" || words[1] != "matrix")
      fail("not a MatrixMarket matrix: the first line must be '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'");
    array_ = words[2] == "array";
    if (!array_ && words[2] != "coordinate")
      fail("format '" + words[2] + "' is neither array nor coordinate");
    integer_ = words[3] == "integer";
    pattern_ = words[3] == "pattern";
    complex_ = structure_ && !array_ && words[3] == "complex";
    if (!integer_ && !pattern_ && !complex_ && words[3] != "real" && words[3] != "double")
      fail("field '" + words[3] + "' is not one of integer, real, pattern");
    if (pattern_ && array_) fail("an array has no pattern field");
    symmetric_ = words[4] == "symmetric" ||
                 (structure_ && !array_ && (words[4] == "skew-symmetric" || words[4] == "hermitian"));
    if (!symmetric_ && words[4] != "general")
      fail("symmetry '" + words[4] + "' is neither general nor symmetric");
  }

  /// Reads the next line unchanged; false at the end.
  bool next_raw_line() {
    if (begin_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', begin_), text_.size());
    rest_ = std::string_view(text_).substr(begin_, end - begin_);
    begin_ = end + 1;
    ++line_;
    return true;
  }
  /// Reads the next line that is neither blank nor a comment.
  bool next_entry_line() {
    while (next_raw_line()) {
      skip_blanks();
      if (!rest_.empty() && rest_.front() != '%') return true;
    }
    return false;
  }
  void next_line() {
    if (!next_entry_line()) fail("the file ends too early");
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }
  void end_of_line() {
    skip_blanks();
    if (!rest_.empty()) fail("'" + std::string(rest_.substr(0, 20)) + "' is one field too many");
  }

  template <class T>
  T field(const char* what) {
    skip_blanks();
    if (!rest_.empty() && rest_.front() == '+') rest_.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<std::size_t>(end - rest_.data());
    const bool ends =
        length == rest_.size() || rest_[length] == ' ' || rest_[length] == '\t' || rest_[length] == '\r';
    if (error != std::errc() || !ends)
      fail(std::string(what) + " expected, not '" +
           std::string(rest_.substr(0, rest_.find_first_of(" \t\r"))) + "'");
    rest_.remove_prefix(length);
    return value;
  }
  std::int64_t size_field() {
    const auto size = field<std::int64_t>("a size");
    if (size < 0) fail("a size is negative");
    return size;
  }
  /// Reads a number. In a real array, infinite entries are forbidden pairs.
  double real_field() {
    const auto value = field<double>("a number");
    if (weights_ && !(value >= 0 && value <= std::numeric_limits<double>::max()))
      fail("a weight is negative, infinite or NaN; weights must be 0 or more");
    if (std::isnan(value) || value == -std::numeric_limits<double>::infinity())
      fail("a cost is NaN or -infinity");
    return value;
  }

  Cost whole_field() {
    const auto value = field<std::int64_t>("a whole number");
    if (weights_ && value < 0) fail("a weight is negative; weights must be 0 or more");
    return value;
  }

  matching::BipartiteGraph complete_graph() const {
    matching::BipartiteGraph graph{rows_, cols_, std::vector<Offset>(at(rows_) + 1), {}};
    for (Index i = 0; i <= rows_; ++i) graph.row_offsets[at(i)] = Offset{i} * cols_;
    if (graph.row_offsets.back() > 2 * static_cast<Offset>(text_.size()))
      fail("a file of this size cannot hold that many entries");
    graph.col_index.resize(at(rows_) * at(cols_));
    for (Index i = 0; i < rows_; ++i)
      std::iota(graph.col_index.begin() + graph.row_offsets[at(i)],
                graph.col_index.begin() + graph.row_offsets[at(i) + 1], 0);
    return graph;
  }
  decltype(matching::WeightedGraph::weights) array_weights() {
    decltype(matching::WeightedGraph::weights) weights;
    if (integer_)
      weights = fill<std::int64_t>([&] { return whole_field(); });
    else
      weights = fill<double>([&] { return real_field(); });
    if (next_entry_line()) fail("more entries than the sizes say");
    return weights;
  }

  matching::Costs read_array() {
    matching::DenseCosts out;
    out.rows = rows_;
    out.cols = cols_;
    // Each entry takes at least a character and a line end, which bounds the number of entries.
    const Offset count = symmetric_ ? Offset{rows_} * (Offset{rows_} + 1) / 2 : Offset{rows_} * cols_;
    if (count > static_cast<Offset>(text_.size())) fail("a file of this size cannot hold that many entries");
    if (integer_)
      out.entries = fill<std::int64_t>([&] { return whole_field(); });
    else
      out.entries = fill<double>([&] { return real_field(); });
    if (const auto* real = std::get_if<std::vector<double>>(&out.entries)) {
      double largest = 0;
      for (const double c : *real)
        if (std::isfinite(c)) largest = std::max(largest, std::abs(c));
      out.fraction_bits = matching::fraction_bits_for(largest, rows_, cols_);
    }
    if (next_entry_line()) fail("more entries than the sizes say");
    return out;
  }
  /// Column by column, the order of the format; of a symmetric matrix the lower triangle.
  template <class T, class Next>
  std::vector<T> fill(Next&& next) {
    std::vector<T> entries(at(rows_) * at(cols_));
    for (Index j = 0; j < cols_; ++j)
      for (Index i = symmetric_ ? j : 0; i < rows_; ++i) {
        next_line();
        const T value = next();
        end_of_line();
        entries[at(i) * at(cols_) + at(j)] = value;
        if (symmetric_) entries[at(j) * at(cols_) + at(i)] = value;
      }
    return entries;
  }

  struct Entry {
    Index i, j;
    std::int64_t line;
    double real;
    Cost whole;
  };

  /// The entries by row and column, each once; of symmetric files both triangles.
  std::vector<Entry> sorted_entries(std::int64_t count) {
    if (count > static_cast<std::int64_t>(text_.size()))
      fail("a file of this size cannot hold that many entries");
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(count) * (symmetric_ ? 2 : 1));
    for (std::int64_t k = 0; k < count; ++k) {
      if (!next_entry_line())
        fail("the file ends after " + std::to_string(k) + " of " + std::to_string(count) + " entries");
      Entry e{index_field(rows_, "row"), index_field(cols_, "column"), line_, 0, 0};
      if (integer_) e.whole = whole_field();
      if (!integer_ && !pattern_) e.real = real_field();
      end_of_line();
      if (std::isinf(e.real)) continue;  // forbidden, like a missing entry
      entries.push_back(e);
      if (symmetric_ && e.i != e.j) entries.push_back({e.j, e.i, e.line, e.real, e.whole});
    }
    if (next_entry_line()) fail("more entries than the " + std::to_string(count) + " announced");
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.i != b.i ? a.i < b.i : a.j != b.j ? a.j < b.j : a.line < b.line;
    });
    for (std::size_t k = 1; k < entries.size(); ++k) {
      const Entry& e = entries[k];
      if (entries[k - 1].i != e.i || entries[k - 1].j != e.j) continue;
      line_ = e.line;
      fail("entry (" + std::to_string(e.i + 1) + ", " + std::to_string(e.j + 1) + ") was given in line " +
           std::to_string(entries[k - 1].line) + " already");
    }
    return entries;
  }

  matching::BipartiteGraph graph_of(const std::vector<Entry>& sorted) const {
    matching::BipartiteGraph graph{rows_, cols_, std::vector<Offset>(at(rows_) + 1, 0), {}};
    graph.col_index.reserve(sorted.size());
    for (const Entry& e : sorted) {
      ++graph.row_offsets[at(e.i) + 1];
      graph.col_index.push_back(e.j);
    }
    std::partial_sum(graph.row_offsets.begin(), graph.row_offsets.end(), graph.row_offsets.begin());
    return graph;
  }

  matching::Costs read_coordinates(std::int64_t count) {
    const std::vector<Entry> entries = sorted_entries(count);
    matching::SparseCosts out;
    out.graph = graph_of(entries);
    double largest = 0;
    for (const Entry& e : entries) largest = std::max(largest, std::abs(e.real));
    if (!integer_ && !pattern_) out.fraction_bits = matching::fraction_bits_for(largest, rows_, cols_);
    out.cost.reserve(entries.size());
    for (const Entry& e : entries)
      out.cost.push_back(integer_ || pattern_ ? e.whole : matching::to_grid(e.real, out.fraction_bits));
    return out;
  }

  /// Calls visit(row, column) for each entry. Values are parsed, to detect faults, and discarded.
  template <class Visit>
  void for_each_entry(std::int64_t count, const Visit& visit) {
    for (std::int64_t k = 0; k < count; ++k) {
      if (!next_entry_line())
        fail("the file ends after " + std::to_string(k) + " of " + std::to_string(count) + " entries");
      const Index i = index_field(rows_, "row"), j = index_field(cols_, "column");
      for (int value = pattern_ ? 0 : complex_ ? 2 : 1; value > 0; --value) field<double>("a number");
      end_of_line();
      visit(i, j);
      if (symmetric_ && i != j) visit(j, i);
    }
    if (next_entry_line()) fail("more entries than the " + std::to_string(count) + " announced");
  }

  /// Sorts entries by row, then each row. Reads the text twice instead of storing a list of all entries.
  matching::BipartiteGraph read_structure(std::int64_t count) {
    if (count > static_cast<std::int64_t>(text_.size()))
      fail("a file of this size cannot hold that many entries");
    const std::size_t first_entry = begin_;
    const std::int64_t first_line = line_;
    matching::BipartiteGraph graph{rows_, cols_, std::vector<Offset>(at(rows_) + 1, 0), {}};
    for_each_entry(count, [&](Index i, Index) { ++graph.row_offsets[at(i) + 1]; });
    std::partial_sum(graph.row_offsets.begin(), graph.row_offsets.end(), graph.row_offsets.begin());
    graph.col_index.resize(static_cast<std::size_t>(graph.row_offsets.back()));
    std::vector<Offset> next(graph.row_offsets.begin(), graph.row_offsets.end() - 1);
    const auto again = [&](const auto& visit) {
      begin_ = first_entry;
      line_ = first_line;
      for_each_entry(count, visit);
    };
    again([&](Index i, Index j) { graph.col_index[static_cast<std::size_t>(next[at(i)]++)] = j; });
    for (Index i = 0; i < rows_; ++i) {
      const auto from = graph.col_index.begin() + graph.row_offsets[at(i)],
                 to = graph.col_index.begin() + graph.row_offsets[at(i) + 1];
      std::sort(from, to);
      const auto twice = std::adjacent_find(from, to);
      if (twice == to) continue;
      std::int64_t earlier = 0;
      again([&](Index row, Index col) {
        if (row != i || col != *twice) return;
        if (earlier != 0)
          fail("entry (" + std::to_string(row + 1) + ", " + std::to_string(col + 1) + ") was given in line " +
               std::to_string(earlier) + " already");
        earlier = line_;
      });
    }
    return graph;
  }

  Index index_field(Index limit, const char* what) {
    const auto value = field<std::int64_t>(what);
    if (value < 1 || value > limit)
      fail(std::string(what) + " " + std::to_string(value) + " lies outside 1.." + std::to_string(limit));
    return static_cast<Index>(value - 1);
  }

  std::string path_, text_;
  std::size_t begin_ = 0;
  std::int64_t line_ = 0;
  std::string_view rest_;  ///< rest of the current line
  bool array_ = false, integer_ = false, pattern_ = false, complex_ = false, symmetric_ = false;
  bool structure_ = false;  ///< values are ignored
  bool weights_ = false;    ///< values are weights: finite and at least 0
  Index rows_ = 0, cols_ = 0;
};

}  // namespace

ProblemFile read_matrix_market(const std::filesystem::path& path) { return MatrixMarket(path).read(); }

matching::BipartiteGraph read_matrix_market_graph(const std::filesystem::path& path) {
  return MatrixMarket(path).read_graph();
}

matching::WeightedGraph read_matrix_market_weights(const std::filesystem::path& path) {
  return MatrixMarket(path).read_weighted_graph();
}

void write_matrix_market(const std::filesystem::path& path, const matching::GreedyProblem& problem) {
  const bool general = problem.kind == matching::GraphKind::general;
  const auto& graph = problem.graph;
  const auto kept = [&](Index i, Index j) { return !general || j < i; };
  std::int64_t entries = 0;
  std::string body;
  for (Index i = 0; i < graph.rows; ++i)
    for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
      const Index j = graph.col_index[static_cast<std::size_t>(e)];
      if (!kept(i, j)) continue;
      ++entries;
      char number[32];  // the shortest text that reads back to the same number
      const auto [end, error] =
          std::to_chars(number, number + sizeof number, matching::weight_of(problem, e));
      body += std::to_string(i + 1) + ' ' + std::to_string(j + 1) + ' ' + std::string(number, end) + '\n';
    }
  write_text(path, std::string("%%MatrixMarket matrix coordinate real ") +
                       (general ? "symmetric" : "general") + '\n' + std::to_string(graph.rows) + ' ' +
                       std::to_string(graph.cols) + ' ' + std::to_string(entries) + '\n' + body);
}

}  // namespace motes::io::detail
