#include "io/tracks/point_columns.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/parallel_for.h>

#include "io/files/text.h"
#include "io/tracks/csv.h"
#include "io/tracks/plain_rows.h"

namespace motes::io::detail {
namespace {

using Names = std::initializer_list<std::string_view>;

constexpr std::int64_t kMaxFrameSpan = 10'000'000;
/// Squares of differences are then ordinary numbers.
constexpr double kMostCoordinate = 1e100;

/// The first column that bears one of the names, in the names' order; exact spelling before any case.
int find_column(const std::vector<std::string>& header, Names names) {
  for (const std::string_view name : names) {
    for (const bool exact : {true, false}) {
      for (std::size_t i = 0; i < header.size(); ++i) {
        if (exact ? header[i] == name : lower_case(header[i]) == lower_case(name)) return static_cast<int>(i);
      }
    }
  }
  return -1;
}

void reject_repeated_names(const std::vector<std::string>& header, const std::string& where) {
  std::vector<std::string> sorted = header;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!sorted[i].empty() && sorted[i] == sorted[i - 1]) {
      throw InputError(where + ": two columns are named '" + sorted[i] + "'; rename one");
    }
  }
}

struct Family {
  std::string_view x, y, z;
  bool micrometres;
};
constexpr std::array<Family, 3> kFamilies{{{"x_um", "y_um", "z_um", true},
                                           {"x", "y", "z", false},
                                           {"POSITION_X", "POSITION_Y", "POSITION_Z", false}}};

bool is_pandas_index(const std::string& name) { return name.empty() || name == "Unnamed: 0"; }

[[noreturn]] void missing_column(const std::string& where, const std::string& what,
                                 const std::string& names) {
  throw InputError(where + ": no " + what + " column; name one " + names);
}

bool is_micrometre(std::string_view unit) {
  std::string folded = lower_case(unit);
  std::erase_if(folded, [](char c) { return c == '(' || c == ')' || c == ' '; });
  return folded == "um" || folded == "\xC2\xB5m" || folded == "\xCE\xBCm" || folded == "\xB5m" ||
         folded.starts_with("micron") || folded.starts_with("micromet");
}

/// Without this a height under another family's name would be left out, and all points lie in one plane.
void reject_mixed_heights(const std::vector<std::string>& header, const Family& taken,
                          const std::string& where) {
  for (const Family& family : kFamilies) {
    const int other = find_column(header, {family.z});
    if (other < 0) continue;
    const std::string name = header[static_cast<std::size_t>(other)];
    throw InputError(where + ": column '" + name + "' does not go with " + std::string(taken.x) + " and " +
                     std::string(taken.y) + "; name it " + std::string(taken.z) + " (in the same unit), or " +
                     name + "_ where it is no coordinate");
  }
}

/// The first family that has x and y.
void assign_coordinates(ColumnRoles& roles, const std::vector<std::string>& header,
                        const std::string& where) {
  bool any_x = false;
  for (const Family& family : kFamilies) {
    roles.x = find_column(header, {family.x});
    roles.y = find_column(header, {family.y});
    roles.z = find_column(header, {family.z});
    roles.micrometres = family.micrometres;
    roles.trackmate = family.x == "POSITION_X";
    if (roles.x >= 0 && roles.y >= 0) {
      if (roles.z < 0) reject_mixed_heights(header, family, where);
      return;
    }
    any_x = any_x || roles.x >= 0;
  }
  if (any_x) missing_column(where, "y", "y_um, y or POSITION_Y");
  missing_column(where, "x", "x_um, x or POSITION_X");
}

class Parser {
 public:
  Parser(const std::filesystem::path& path, bool identities) : reader_(path), identities_(identities) {
    roles_ = assign_roles(reader_.header(), reader_.where());
    out_.micrometres = roles_.micrometres;
    name_identities();
    if (identities && roles_.track < 0) {
      missing_column(reader_.where(), "track", "particle, track, track_id or TRACK_ID");
    }
    for (const int column : roles_.properties) out_.properties.push_back({header(column), {}});
    if (roles_.time >= 0) out_.time_name = header(roles_.time);
    numeric_.assign(roles_.properties.size(), true);
    if (roles_.z < 0) out_.notes.push_back("no z column: z is 0 throughout");
  }

  PointColumns run() {
    bool more = reader_.next();
    if (roles_.trackmate) more = skip_trackmate_lines(more);
    if (more) add_row();
    if (more) add_rows();
    if (out_.size() > 0) check_frame_span();
    drop_columns_that_are_no_numbers();
    return std::move(out_);
  }

 private:
  const std::string& header(int column) const { return reader_.header()[static_cast<std::size_t>(column)]; }
  std::string_view field(int column) const { return reader_.fields()[static_cast<std::size_t>(column)]; }

  void name_identities() {
    for (const int column : {roles_.track, roles_.parent}) {
      if (column >= 0) out_.identity_names.push_back(header(column));
    }
  }

  /// TrackMate's export repeats its header in words and adds a line of units.
  bool skip_trackmate_lines(bool more) {
    constexpr int kMaxLines = 3;
    for (int skipped = 0; more && skipped < kMaxLines && !parse_double(field(roles_.frame)); ++skipped) {
      if (is_micrometre(field(roles_.x))) out_.micrometres = true;
      more = reader_.next();
    }
    return more;
  }

  [[noreturn]] void bad_value(int column, const std::string& what) const {
    throw InputError(reader_.where() + ": " + header(column) + " is '" + std::string(field(column)) + "'; " +
                     what);
  }

  void add_row() {
    out_.frame.push_back(frame_number());
    out_.x.push_back(coordinate(roles_.x));
    out_.y.push_back(coordinate(roles_.y));
    out_.z.push_back(roles_.z < 0 ? 0.0 : coordinate(roles_.z));
    out_.line.push_back(reader_.line());
    if (identities_) {
      out_.track.push_back(track_number());
      if (roles_.parent >= 0) out_.parent.push_back(parent_number());
    }
    if (roles_.time >= 0 && time_is_numeric_) add_time();
    for (std::size_t i = 0; i < roles_.properties.size(); ++i) {
      if (numeric_[i]) add_property(i);
    }
  }

  /// The rows after the current one: by blocks while they are plain numbers, else one at a time.
  void add_rows() {
    constexpr std::size_t kBlock = std::size_t{1} << 19;
    reserve();
    for (bool more = true; more;) {
      const auto many = static_cast<std::size_t>(8 * omp_get_max_threads());
      const std::vector<PlainBlock> blocks =
          read_plain_blocks(reader_.text(), reader_.position(), plain_layout(), many, kBlock);
      more = !blocks.empty();
      for (auto block = blocks.begin(); block != blocks.end() && reader_.position() == block->begin;) {
        auto last = block;
        while (last->plain_end == last->end && last + 1 != blocks.end()) ++last;
        append({block, last + 1});
        while (more && reader_.position() < last->end) {
          more = reader_.next();
          if (more) add_row();
        }
        block = last + 1;
      }
    }
  }

  /// Room for the whole table, by the length of the rows so far, so that columns are not copied as they grow.
  void reserve() {
    const std::string_view start = reader_.text().substr(reader_.position(), 1 << 16);
    const auto lines = static_cast<std::size_t>(std::count(start.begin(), start.end(), '\n'));
    if (lines == 0) return;
    const std::size_t left = reader_.text().size() - reader_.position();
    const std::size_t rows = out_.size() + left / (start.size() / lines) + left / start.size();
    for (std::vector<double>* column : {&out_.x, &out_.y, &out_.z}) column->reserve(rows);
    out_.frame.reserve(rows);
    out_.line.reserve(rows);
    for (std::size_t i = 0; i < roles_.properties.size(); ++i)
      if (numeric_[i]) out_.properties[i].values.reserve(rows);
  }

  PlainLayout plain_layout() const {
    PlainLayout layout{reader_.delimiter(), std::vector<PlainField>(reader_.header().size()),
                       kMostCoordinate};
    const auto set = [&](int column, PlainField field) {
      if (column >= 0) layout.fields[static_cast<std::size_t>(column)] = field;
    };
    for (std::size_t i = 0; i < roles_.properties.size(); ++i)
      if (numeric_[i]) set(roles_.properties[i], PlainField::number);
    if (time_is_numeric_) set(roles_.time, PlainField::number);
    if (identities_) set(roles_.track, PlainField::identity);
    if (identities_) set(roles_.parent, PlainField::parent);
    set(roles_.frame, PlainField::frame);
    for (const int column : {roles_.x, roles_.y, roles_.z}) set(column, PlainField::coordinate);
    return layout;
  }

  /// Adds the plain rows of the blocks, column by column, and moves behind them. All but the last are plain
  /// throughout.
  void append(std::span<const PlainBlock> blocks) {
    std::size_t rows = 0;
    for (const PlainBlock& block : blocks) rows += block.rows;
    std::vector<std::function<void()>> columns;
    const auto add = [&](auto& to, const auto& part) {
      columns.push_back([&to, blocks, part] {
        for (const PlainBlock& block : blocks) to.insert(to.end(), part(block).begin(), part(block).end());
      });
    };
    const auto add_zeros = [&](auto& to) { columns.push_back([&to, rows] { to.resize(to.size() + rows); }); };
    const auto add_numbers = [&](int column, std::vector<double>& to) {
      add(
          to, [c = static_cast<std::size_t>(column)](const PlainBlock& block) -> const auto& {
            return block.numbers[c];
          });
    };
    const auto add_identities = [&](int column, auto& to) {
      add(
          to, [c = static_cast<std::size_t>(column)](const PlainBlock& block) -> const auto& {
            return block.identities[c];
          });
    };
    if (roles_.frame < 0) add_zeros(out_.frame);
    if (roles_.frame >= 0)
      add(
          out_.frame, [](const PlainBlock& block) -> const auto& { return block.frame; });
    add_numbers(roles_.x, out_.x);
    add_numbers(roles_.y, out_.y);
    if (roles_.z < 0) add_zeros(out_.z);
    if (roles_.z >= 0) add_numbers(roles_.z, out_.z);
    if (roles_.time >= 0 && time_is_numeric_) add_numbers(roles_.time, out_.time_s);
    for (std::size_t i = 0; i < roles_.properties.size(); ++i)
      if (numeric_[i]) add_numbers(roles_.properties[i], out_.properties[i].values);
    if (identities_) add_identities(roles_.track, out_.track);
    if (identities_ && roles_.parent >= 0) add_identities(roles_.parent, out_.parent);
    columns.push_back([&] {
      for (std::size_t row = 0; row < rows; ++row)
        out_.line.push_back(reader_.next_line() + static_cast<std::int64_t>(row));
    });
    parallel_for(omp_get_max_threads(), std::ssize(columns),
                 [&](std::int64_t i) { columns[static_cast<std::size_t>(i)](); });
    reader_.skip_rows(blocks.back().plain_end, rows);
  }

  std::int32_t frame_number() const {
    const auto value = parse_integer(field(roles_.frame));
    if (!value) bad_value(roles_.frame, "a whole number is needed");
    if (*value < 0) bad_value(roles_.frame, "frames count from 0");
    if (*value > std::numeric_limits<std::int32_t>::max())
      bad_value(roles_.frame, "frames end at 2147483647");
    return static_cast<std::int32_t>(*value);
  }

  double coordinate(int column) const {
    const auto value = parse_double(field(column));
    if (!value) bad_value(column, "a number is needed");
    if (!std::isfinite(*value)) bad_value(column, "coordinates must be finite; remove the row");
    if (std::abs(*value) > kMostCoordinate)
      bad_value(column, "coordinates end at 1e100; correct the number or remove the row");
    return *value;
  }

  std::optional<std::int64_t> track_number() const {
    if (is_missing(field(roles_.track))) return std::nullopt;
    const auto value = parse_integer(field(roles_.track));
    if (!value) bad_value(roles_.track, "a whole number is needed (empty: no track)");
    if (*value < -1) bad_value(roles_.track, "track numbers count from 0 (-1 or empty: no track)");
    return *value == -1 ? std::nullopt : value;
  }

  std::int64_t parent_number() const {
    if (is_missing(field(roles_.parent))) return -1;
    const auto value = parse_integer(field(roles_.parent));
    if (!value || *value < -1)
      bad_value(roles_.parent, "the mother's track number is needed (-1 or empty: none)");
    return *value;
  }

  /// NaN for a missing value; none for what is no number.
  std::optional<double> optional_number(int column) const {
    if (const auto value = parse_double(field(column))) return value;
    if (is_missing(field(column))) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  void note_no_number(int column) {
    out_.notes.push_back("column '" + header(column) + "' is left out: line " +
                         std::to_string(reader_.line()) + " holds '" +
                         std::string(field(column).substr(0, 40)) + "', which is no number");
  }

  void add_time() {
    if (const auto value = optional_number(roles_.time)) {
      out_.time_s.push_back(*value);
      return;
    }
    note_no_number(roles_.time);
    time_is_numeric_ = false;
    out_.time_s.clear();
  }

  void add_property(std::size_t i) {
    if (const auto value = optional_number(roles_.properties[i])) {
      out_.properties[i].values.push_back(*value);
      return;
    }
    note_no_number(roles_.properties[i]);
    numeric_[i] = false;
    out_.properties[i].values = {};
  }

  void drop_columns_that_are_no_numbers() {
    std::vector<PropertyColumn> kept;
    for (std::size_t i = 0; i < numeric_.size(); ++i) {
      if (numeric_[i]) kept.push_back(std::move(out_.properties[i]));
    }
    out_.properties = std::move(kept);
  }

  void check_frame_span() const {
    const auto [low, high] = std::minmax_element(out_.frame.begin(), out_.frame.end());
    if (static_cast<std::int64_t>(*high) - *low < kMaxFrameSpan) return;
    throw InputError(reader_.where(out_.line[static_cast<std::size_t>(high - out_.frame.begin())]) +
                     ": the frames run from " + std::to_string(*low) + " to " + std::to_string(*high) +
                     ", more than 10 million; correct the frame numbers");
  }

  CsvReader reader_;
  bool identities_;
  ColumnRoles roles_;
  std::vector<bool> numeric_;  ///< which property columns held numbers so far
  bool time_is_numeric_ = true;
  PointColumns out_;
};

}  // namespace

ColumnRoles assign_roles(const std::vector<std::string>& header, const std::string& where) {
  reject_repeated_names(header, where);
  ColumnRoles roles;
  roles.frame = find_column(header, {"frame", "t"});
  roles.track = find_column(header, {"particle", "track", "track_id"});
  roles.parent = find_column(header, {"parent"});
  roles.time = find_column(header, {"t_s", "time_s"});
  if (roles.frame < 0) missing_column(where, "frame", "frame, t or FRAME");
  assign_coordinates(roles, header, where);
  const auto used = {roles.frame, roles.x, roles.y, roles.z, roles.track, roles.parent, roles.time};
  for (int i = 0; i < static_cast<int>(header.size()); ++i) {
    if (is_pandas_index(header[static_cast<std::size_t>(i)])) continue;
    if (std::find(used.begin(), used.end(), i) == used.end()) roles.properties.push_back(i);
  }
  return roles;
}

PointColumns read_point_columns(const std::filesystem::path& path, bool identities) {
  return Parser(path, identities).run();
}

}  // namespace motes::io::detail
