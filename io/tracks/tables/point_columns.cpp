/// Converts the columns of a table to points: units, frames, times and identities.

#include "io/tracks/tables/point_columns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include <omp.h>

#include <motes/base/errors.h>
#include <motes/base/execution.h>
#include <motes/base/parallel_for.h>

#include "io/files/text.h"
#include "io/images/frame_interval.h"
#include "io/images/units.h"
#include "io/tracks/point_frames.h"
#include "io/tracks/tables/column_roles.h"
#include "io/tracks/tables/csv.h"
#include "io/tracks/tables/likely_columns.h"
#include "io/tracks/tables/plain_rows.h"
#include "io/tracks/tables/point_links.h"

namespace motes::io::detail {
namespace {

/// Whether the text has both marks, as in 1.234,5 or 1,234.5.
bool has_thousands(std::string_view text) {
  return text.find(',') != std::string_view::npos && text.find('.') != std::string_view::npos;
}

/// Why the text is not a coordinate, and what to do.
std::string no_number(std::string_view text, char delimiter) {
  if (has_thousands(text)) return "a number without thousands separators is needed";
  if (delimiter == ',' && text.find(',') != std::string_view::npos)
    return "decimal commas are read if semicolons or tabs separate the columns; save the table so";
  return "a number is needed; correct the cell or remove the row";
}

/// Whether the text is a date or a time of day.
bool is_of_clock(std::string_view text) {
  return text.find(':') != std::string_view::npos ||
         (text.size() >= 8 && text.find_first_of("-/", 1) != std::string_view::npos);
}

/// Why the text is not a time, and what to do.
std::string no_time(std::string_view text) {
  return is_of_clock(text) ? "dates and times of day are not read; give seconds, or number the frames"
                           : "a number is needed; correct the cell or remove the row";
}

/// Why the text, which is not a number, is not a frame number.
std::string no_frame(std::string_view text) {
  return "a whole number is needed" + (is_of_clock(text) ? "; " + no_time(text) : "");
}

/// Limits the number of properties, since writers of VTK files compare each with all others.
constexpr std::size_t kMostProperties = 10'000;

/// Limits coordinates, so that squares of differences are finite.
constexpr double kMostCoordinate = 1e100;

/// Throws for an integer t that rises in steps such as 60, since it may be in seconds.
void reject_seconds_as_frames(const PointColumns& columns, const std::string& where) {
  std::int64_t step = 0;
  for (const std::int32_t frame : columns.frame)
    step = std::gcd(step, std::int64_t{frame} - columns.frame.front());
  const auto [low, high] = std::minmax_element(columns.frame.begin(), columns.frame.end());
  if (step <= 1 || *high - *low <= step) return;
  throw InputError(where + ": column 't' rises in steps of " + std::to_string(step) +
                   ", so it may be in seconds; use --columns time=t if it is, or --columns frame=t if it "
                   "counts frames");
}

class Parser {
 public:
  Parser(const std::filesystem::path& path, const TableOptions& options, bool identities)
      : reader_(path), dt_s_(options.dt_s), identities_(identities) {
    roles_ = assign_roles(reader_.header(), reader_.where(), options.columns);
    name_identities();
    if (identities && roles_.track < 0 && !has_point_links(reader_.header())) {
      throw InputError(reader_.where() +
                       ": no track column; name it with --columns particle=NAME, or find tracks with motes "
                       "track (the columns are " +
                       listing(reader_.header()) + ")" + track_hint());
    }
    if (roles_.properties.size() > kMostProperties) {
      throw InputError(reader_.where() + ": the table has " + std::to_string(reader_.header().size()) +
                       " columns; at most " + std::to_string(kMostProperties) +
                       " are kept as properties: remove those that you do not need");
    }
    for (const int column : roles_.properties) out_.properties.push_back({header(column), {}});
    if (roles_.time >= 0) out_.time_name = header(roles_.time);
    numeric_.assign(roles_.properties.size(), true);
    if (roles_.z < 0) out_.notes.push_back("no z column: z is 0 throughout");
  }

  PointColumns run() {
    bool more = reader_.next();
    if (roles_.trackmate) more = skip_trackmate_lines(more);
    if (more && is_line_of_units()) {
      take_line_of_units();
      more = reader_.next();
    }
    if (more) add_row();
    if (more) add_rows();
    if (roles_.frame < 0) number_frames();
    if (out_.size() > 0) check_frame_span();
    if (roles_.bare_t && out_.size() > 0) reject_seconds_as_frames(out_, reader_.where(1));
    if (reader_.quoted_lines()) out_.notes.push_back("lines that are wholly in quotes are read without them");
    if (reader_.decimal_commas()) out_.notes.push_back("decimal commas are read as points");
    drop_columns_that_are_no_numbers();
    settle_units();
    settle_parents();
    return std::move(out_);
  }

 private:
  const std::string& header(int column) const { return reader_.header()[static_cast<std::size_t>(column)]; }
  std::string_view field(int column) const { return reader_.fields()[static_cast<std::size_t>(column)]; }

  /// What to write if a column probably numbers tracks; begins with "; " if not empty.
  std::string track_hint() const {
    const int track = likely_tracks(reader_.header());
    if (track < 0) return "";
    return "; if '" + header(track) + "' numbers tracks, use " + columns_option("particle=" + header(track));
  }

  void name_identities() {
    for (const int column : {roles_.track, roles_.parent, roles_.merged}) {
      if (column >= 0) out_.identity_names.push_back(header(column));
    }
  }

  /// TrackMate's export repeats its header in words and adds a line of units; skips these.
  bool skip_trackmate_lines(bool more) {
    constexpr int kMaxLines = 3;
    const int number = roles_.frame >= 0 ? roles_.frame : roles_.x;
    for (int skipped = 0; more && skipped < kMaxLines && !parse_double(field(number)); ++skipped) {
      take_unit(bare_unit(field(roles_.x)));
      if (roles_.time >= 0 && !roles_.time_s) roles_.time_s = time_unit_s(bare_unit(field(roles_.time)));
      more = reader_.next();
    }
    return more;
  }

  /// Whether the row has "(um)" for every coordinate, as Mastodon writes it below its header.
  bool is_line_of_units() const {
    const auto unit_at = [&](int column) { return column < 0 || is_unit(bare_unit(field(column))); };
    return unit_at(roles_.x) && unit_at(roles_.y) && unit_at(roles_.z);
  }

  void take_line_of_units() {
    const std::string_view unit = bare_unit(field(roles_.x));
    for (const int column : {roles_.y, roles_.z})
      if (column >= 0 && bare_unit(field(column)) != unit)
        bad_value(column, "use one unit for all coordinates");
    if (roles_.um && roles_.um->x != length_unit_um(unit))
      bad_value(roles_.x, "the column's name states another unit; correct one of them");
    if (!roles_.um) take_unit(unit);
    if (roles_.time < 0) return;
    if (const auto factor = time_unit_s(bare_unit(field(roles_.time)))) roles_.time_s = factor;
  }

  void take_unit(std::string_view unit) {
    roles_.pixels = roles_.pixels || is_pixel(unit);
    const auto factor = length_unit_um(unit);
    if (!factor) return;
    roles_.um = Vec3{*factor, *factor, *factor};
    roles_.unit_name = *factor == 1 ? "" : std::string(unit);
  }

  /// Takes the unit from a column that names it in every row; all rows must agree.
  void take_unit_of_row() {
    const std::string_view unit = field(roles_.unit);
    if (out_.size() == 0) {
      take_unit(unit);
      unit_of_rows_ = unit;
      if (!roles_.um && !unit.empty())
        out_.notes.push_back("column '" + header(roles_.unit) + "' says '" + unit_of_rows_ +
                             "', which is not a length");
    }
    if (unit != unit_of_rows_)
      bad_value(roles_.unit, "the earlier rows state '" + unit_of_rows_ + "'; use one unit");
  }

  /// Converts lengths to um and times to s, if the table states their units.
  void settle_units() {
    out_.micrometres = roles_.um.has_value();
    out_.pixels = roles_.pixels && !roles_.um;
    if (!roles_.unit_name.empty()) {
      for (double& x : out_.x) x *= roles_.um->x;
      for (double& y : out_.y) y *= roles_.um->y;
      for (double& z : out_.z) z *= roles_.um->z;
      out_.notes.push_back("lengths are in " + roles_.unit_name + " by the table, and converted to um");
    }
    if (roles_.trackmate && roles_.um) rename_radius();
    if (out_.time_s.empty()) return;
    if (!roles_.time_s) {
      out_.notes.push_back("column '" + out_.time_name +
                           "' states no unit of time; it is kept as a property (--columns time=" +
                           out_.time_name + " reads it as seconds)");
      out_.properties.push_back({out_.time_name, std::move(out_.time_s)});
      out_.time_s.clear();
    } else if (*roles_.time_s != 1) {
      for (double& t : out_.time_s) t *= *roles_.time_s;
    }
  }

  /// Renames TrackMate's RADIUS, which is in the unit of its positions.
  void rename_radius() {
    for (PropertyColumn& column : out_.properties) {
      if (column.name != "RADIUS") continue;
      column.name = "radius_um";
      for (double& radius : column.values) radius *= roles_.um->x;
    }
  }

  /// Sets mothers to none that other tools write as 0 (if no track has that number) or as the track itself.
  void settle_parents() {
    if (out_.parent.empty()) return;
    const bool zero =
        std::any_of(out_.track.begin(), out_.track.end(), [](const auto& id) { return id == 0; });
    for (std::size_t row = 0; row < out_.parent.size(); ++row) {
      if (out_.parent[row] == 0 && !zero) out_.parent[row] = -1;
      if (roles_.own_parent && out_.track[row] == out_.parent[row]) out_.parent[row] = -1;
    }
  }

  /// Numbers the frames of a table that has only times, which must be multiples of an interval.
  void number_frames() {
    const auto frames = frames_of_times(out_.time_s, roles_.time_s.value_or(1), dt_s_);
    if (!frames) {
      throw InputError(
          reader_.where(1) + ": the times in column '" + out_.time_name +
          "' are not multiples of one interval; add a column of frame numbers, or set input.dt_s");
    }
    out_.frame = *frames;
    out_.notes.push_back("frames are numbered by the times in column '" + out_.time_name + "'");
  }

  [[noreturn]] void bad_value(int column, const std::string& what) const {
    throw InputError(reader_.where() + ": " + header(column) + " is '" + std::string(field(column)) + "'; " +
                     what);
  }

  void add_row() {
    if (roles_.unit >= 0) take_unit_of_row();
    out_.frame.push_back(roles_.frame < 0 ? 0 : frame_number());
    out_.x.push_back(coordinate(roles_.x));
    out_.y.push_back(coordinate(roles_.y));
    out_.z.push_back(roles_.z < 0 ? 0.0 : coordinate(roles_.z));
    out_.line.push_back(reader_.line());
    if (identities_ && roles_.track >= 0) out_.track.push_back(track_number());
    if (identities_ && roles_.parent >= 0)
      out_.parent.push_back(relative(roles_.parent, "the mother's track number is needed"));
    if (identities_ && roles_.merged >= 0)
      out_.merged_into.push_back(relative(roles_.merged, "the merged track's number is needed"));
    if (roles_.time >= 0 && time_is_numeric_) add_time();
    for (std::size_t i = 0; i < roles_.properties.size(); ++i) {
      if (numeric_[i]) add_property(i);
    }
  }

  /// Reads the rows after the current one: in blocks while they are plain numbers, else one at a time.
  void add_rows() {
    constexpr std::size_t kBlock = std::size_t{1} << 19;
    reserve();
    // Units are compared row by row, and any number of blanks may separate fields.
    if (roles_.unit >= 0 || reader_.delimiter() == ' ') {
      while (reader_.next()) add_row();
      return;
    }
    for (bool more = true; more;) {
      const auto many = static_cast<std::size_t>(8 * thread_count({omp_get_max_threads()}));
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

  /// Reserves memory for the whole table, from the length of the rows so far, so that columns need not grow.
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
    if (identities_) set(roles_.merged, PlainField::parent);
    set(roles_.frame, PlainField::frame);
    for (const int column : {roles_.x, roles_.y, roles_.z}) set(column, PlainField::coordinate);
    return layout;
  }

  /// Appends the plain rows of the blocks, column by column, and moves after them. All blocks but the last
  /// must be completely plain.
  void append(std::span<const PlainBlock> blocks) {
    std::size_t rows = 0;
    for (const PlainBlock& block : blocks) rows += block.rows;
    std::vector<std::function<void()>> columns;
    const auto add = [&](auto& to, auto part) {
      columns.push_back([&to, blocks, part] {
        for (const PlainBlock& block : blocks) {
          const auto& values = std::invoke(part, block);
          to.insert(to.end(), values.begin(), values.end());
        }
      });
    };
    const auto add_zeros = [&](auto& to) { columns.push_back([&to, rows] { to.resize(to.size() + rows); }); };
    const auto add_numbers = [&](int column, std::vector<double>& to) {
      add(to, [column](const PlainBlock& block) -> const std::vector<double>& {
        return block.numbers[static_cast<std::size_t>(column)];
      });
    };
    const auto add_identities = [&](int column, auto& to) {
      add(to, [column](const PlainBlock& block) -> const std::vector<std::int64_t>& {
        return block.identities[static_cast<std::size_t>(column)];
      });
    };
    if (roles_.frame < 0) add_zeros(out_.frame);
    if (roles_.frame >= 0) add(out_.frame, &PlainBlock::frame);
    add_numbers(roles_.x, out_.x);
    add_numbers(roles_.y, out_.y);
    if (roles_.z < 0) add_zeros(out_.z);
    if (roles_.z >= 0) add_numbers(roles_.z, out_.z);
    if (roles_.time >= 0 && time_is_numeric_) add_numbers(roles_.time, out_.time_s);
    for (std::size_t i = 0; i < roles_.properties.size(); ++i)
      if (numeric_[i]) add_numbers(roles_.properties[i], out_.properties[i].values);
    if (identities_ && roles_.track >= 0) add_identities(roles_.track, out_.track);
    if (identities_ && roles_.parent >= 0) add_identities(roles_.parent, out_.parent);
    if (identities_ && roles_.merged >= 0) add_identities(roles_.merged, out_.merged_into);
    columns.push_back([&] {
      for (std::size_t row = 0; row < rows; ++row)
        out_.line.push_back(reader_.next_line() + static_cast<std::int64_t>(row));
    });
    parallel_for(thread_count({omp_get_max_threads()}), std::ssize(columns),
                 [&](std::int64_t i) { columns[static_cast<std::size_t>(i)](); });
    reader_.skip_rows(blocks.back().plain_end, rows);
  }

  std::int32_t frame_number() const {
    const auto value = parse_integer(field(roles_.frame));
    if (!value)
      bad_value(roles_.frame, parse_double(field(roles_.frame))
                                  ? "a whole number is needed; if it is in seconds, use --columns time=" +
                                        header(roles_.frame)
                                  : no_frame(field(roles_.frame)));
    if (*value < 0) bad_value(roles_.frame, "frames are numbered from 0");
    if (*value > std::numeric_limits<std::int32_t>::max())
      bad_value(roles_.frame, "the largest frame is 2147483647; if it is in seconds, use --columns time=" +
                                  header(roles_.frame));
    return static_cast<std::int32_t>(*value);
  }

  double coordinate(int column) const {
    const auto value = parse_double(field(column));
    if (!value) bad_value(column, no_number(field(column), reader_.delimiter()));
    if (!std::isfinite(*value)) bad_value(column, "coordinates must be finite; remove the row");
    if (std::abs(*value) > kMostCoordinate)
      bad_value(column, "coordinates must be below 1e100; correct the number or remove the row");
    return *value;
  }

  std::optional<std::int64_t> track_number() const {
    if (is_missing(field(roles_.track))) return std::nullopt;
    const auto value = parse_integer(field(roles_.track));
    if (!value) bad_value(roles_.track, "a whole number is needed (empty: no track)");
    if (*value < -1) bad_value(roles_.track, "track numbers are 0 or more (-1 or empty: no track)");
    return *value == -1 ? std::nullopt : value;
  }

  /// A track number; -1: none.
  std::int64_t relative(int column, const std::string& needed) const {
    if (is_missing(field(column))) return -1;
    const auto value = parse_integer(field(column));
    if (!value || *value < -1) bad_value(column, needed + " (-1 or empty: none)");
    return *value;
  }

  /// A number, NaN for a missing value; none for other text.
  std::optional<double> optional_number(int column) const {
    if (const auto value = parse_double(field(column))) return value;
    if (is_missing(field(column))) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  void note_no_number(int column) {
    out_.notes.push_back("column '" + header(column) + "' is left out: line " +
                         std::to_string(reader_.line()) + " holds '" +
                         std::string(field(column).substr(0, 40)) + "', which is not a number");
  }

  void add_time() {
    if (const auto value = optional_number(roles_.time)) {
      out_.time_s.push_back(*value);
      return;
    }
    if (roles_.frame < 0) bad_value(roles_.time, no_time(field(roles_.time)));
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
  std::optional<double> dt_s_;
  bool identities_;
  ColumnRoles roles_;
  std::vector<bool> numeric_;  ///< whether each property column has had only numbers so far
  bool time_is_numeric_ = true;
  std::string unit_of_rows_;
  PointColumns out_;
};

}  // namespace

PointColumns read_point_columns(const std::filesystem::path& path, const TableOptions& options,
                                bool identities) {
  return Parser(path, options, identities).run();
}

}  // namespace motes::io::detail
