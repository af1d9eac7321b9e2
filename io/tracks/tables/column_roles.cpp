/// Recognises columns by their names and units.

#include "io/tracks/tables/column_roles.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <motes/base/errors.h>

#include "io/files/text.h"
#include "io/images/units.h"
#include "io/tracks/tables/likely_columns.h"

namespace motes::io::detail {
namespace {

using Header = std::vector<std::string>;
using Names = std::initializer_list<std::string_view>;

const std::string& name_at(const Header& header, int column) {
  return header[static_cast<std::size_t>(column)];
}

/// The first column with one of the names, in the order of names; exact spelling before other cases.
int find_column(const Header& header, Names names) {
  for (const std::string_view name : names) {
    for (const bool exact : {true, false}) {
      for (std::size_t i = 0; i < header.size(); ++i) {
        if (exact ? header[i] == name : lower_case(header[i]) == lower_case(name)) return static_cast<int>(i);
      }
    }
  }
  return -1;
}

void reject_repeated_names(const Header& header, const std::string& where) {
  Header sorted = header;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!sorted[i].empty() && sorted[i] == sorted[i - 1]) {
      throw InputError(where + ": two columns are named '" + sorted[i] + "'; rename one");
    }
  }
}

/// What else to do about missing columns, if the header does not look like one.
std::string header_hint(const Header& header) {
  constexpr std::size_t kFewest = 3;  // frame, x, y
  if (header.size() == 1 && header[0].find('|') != std::string::npos)
    return "; separate the columns by commas, not by '|'";
  if (find_column(header, {"SPOT_SOURCE_ID", "NUMBER_SPOTS"}) >= 0)
    return "; this is TrackMate's table of edges or tracks: give that of its spots";
  return header.size() < kFewest ? "; if this is not the header, delete the lines above it" : "";
}

/// The columns to name, if some are likely: those of positions after the frame column that the user named.
[[noreturn]] void missing_column(const Header& header, const std::string& where, const ColumnRoles& given,
                                 const std::string& role, const std::string& names) {
  const std::string likely = likely_positions(header);
  const std::string frame = given.frame < 0 ? "" : "frame=" + name_at(header, given.frame) + ",";
  if (!likely.empty())
    throw InputError(where + ": no " + role + " column; if these are positions, use --columns \"" + frame +
                     likely + "\"");
  throw InputError(where + ": no " + role + " column; name one " + names + ", or name it with --columns " +
                   role + "=NAME (of " + listing(header) + ")" + header_hint(header));
}

/// "x [nm]" is x in nm, and so are "x (nm)", "x/nm", "x nm" and "x_nm".
struct NamedUnit {
  std::string base, unit;  ///< base in lower case; unit as written
};

NamedUnit split_unit(const std::string& name) {
  for (const auto& [open, close] : {std::pair{'[', ']'}, std::pair{'(', ')'}}) {
    const std::size_t begin = name.rfind(open);
    if (begin == std::string::npos || begin == 0 || name.back() != close) continue;
    return {lower_case(trimmed(std::string_view(name).substr(0, begin))),
            std::string(trimmed(std::string_view(name).substr(begin + 1, name.size() - begin - 2)))};
  }
  for (const char mark : {'/', ' '}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string::npos || at == 0) continue;
    const std::string_view unit = trimmed(std::string_view(name).substr(at + 1));
    if (is_unit(unit)) return {lower_case(trimmed(std::string_view(name).substr(0, at))), std::string(unit)};
  }
  const std::size_t underscore = name.rfind('_');
  if (underscore != std::string::npos && underscore > 0) {
    const std::string unit = name.substr(underscore + 1);
    for (const std::string_view known : {"um", "nm", "mm", "px", "s", "ms", "min"}) {
      if (lower_case(unit) == known) return {lower_case(name.substr(0, underscore)), unit};
    }
  }
  return {lower_case(name), ""};
}

/// A spelling of coordinate columns, `#` for the letter.
struct Family {
  std::string_view pattern;
  bool unit_in_name;
};
constexpr std::array<Family, 6> kFamilies{{{"#", true},
                                           {"#", false},
                                           {"position_#", true},
                                           {"position_#", false},
                                           {"position #", true},
                                           {"position #", false}}};
constexpr std::size_t kTrackMate = 3;

std::string spelled(std::string_view pattern, char letter) {
  std::string name(pattern);
  name[name.find('#')] = letter;
  return name;
}

/// Prefers x_um to other units.
int find_axis(const Header& header, const Family& family, char letter) {
  const std::string base = spelled(family.pattern, letter);
  if (family.unit_in_name) {
    if (const int column = find_column(header, {base + "_um"}); column >= 0) return column;
  }
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (!family.unit_in_name && lower_case(header[i]) == base) return static_cast<int>(i);
    const NamedUnit named = split_unit(header[i]);
    if (family.unit_in_name && named.base == base && is_unit(named.unit)) return static_cast<int>(i);
  }
  return -1;
}

/// Throws if a height has a name of another family, since otherwise all points would lie in one plane.
void reject_mixed_heights(const Header& header, const ColumnRoles& roles, const std::string& where) {
  for (const Family& family : kFamilies) {
    int other = find_axis(header, family, 'z');
    for (std::size_t i = 0; i < header.size() && other < 0; ++i)
      if (const NamedUnit named = split_unit(header[i]);
          named.base == spelled(family.pattern, 'z') && !is_unit(named.unit))
        other = static_cast<int>(i);  // "z (slice)"
    if (other < 0) continue;
    const std::string& name = name_at(header, other);
    std::string wanted = name_at(header, roles.x);
    if (const std::size_t letter = wanted.find_last_of("xX", 9); letter != std::string::npos)
      wanted[letter] = wanted[letter] == 'x' ? 'z' : 'Z';
    throw InputError(where + ": column '" + name + "' does not match " + name_at(header, roles.x) + " and " +
                     name_at(header, roles.y) + "; name it " + wanted + " (in the same unit), or " + name +
                     "_ if it is not a coordinate");
  }
}

/// napari's points: axis-0 ... in the order of the layer's axes.
bool assign_napari_axes(ColumnRoles& roles, const Header& header, const std::string& where) {
  const int a = find_column(header, {"axis-0"}), b = find_column(header, {"axis-1"}),
            c = find_column(header, {"axis-2"}), d = find_column(header, {"axis-3"});
  if (a < 0 || b < 0 || c < 0) return false;
  if (d < 0 && roles.x < 0) {
    throw InputError(where +
                     ": three axes do not say whether axis-0 is time or z; use --columns "
                     "frame=axis-0,y=axis-1,x=axis-2 or z=axis-0,y=axis-1,x=axis-2");
  }
  if (d < 0) return false;
  const auto fill = [](int& role, int column) { role = role < 0 ? column : role; };
  fill(roles.frame, a);
  fill(roles.z, b);
  fill(roles.y, c);
  fill(roles.x, d);
  return true;
}

/// The coordinate column of any family, for messages; -1: none.
int find_any_axis(const Header& header, char letter) {
  for (const Family& family : kFamilies)
    if (const int column = find_axis(header, family, letter); column >= 0) return column;
  return -1;
}

/// For x and y of two families: only one states a unit, or the spellings differ.
[[noreturn]] void reject_mixed_families(const Header& header, const std::string& where, int x, int y) {
  const std::string &x_name = name_at(header, x), &y_name = name_at(header, y);
  const bool x_states = length_unit_um(split_unit(x_name).unit).has_value();
  const bool y_states = length_unit_um(split_unit(y_name).unit).has_value();
  if (x_states != y_states) {
    throw InputError(where + ": the units are mixed: column '" + (x_states ? x_name : y_name) +
                     "' states one and '" + (x_states ? y_name : x_name) +
                     "' none; rename the columns so that all coordinates have one (x_um, y_um), or none does "
                     "(x, y)");
  }
  throw InputError(where + ": columns '" + x_name + "' and '" + y_name +
                   "' are of different families; if they belong together, use --columns \"x=" + x_name +
                   ",y=" + y_name + "\"");
}

/// Takes the first family that has x and y; columns from input.columns are kept.
void assign_coordinates(ColumnRoles& roles, const Header& header, const std::string& where) {
  const bool given = roles.x >= 0 || roles.y >= 0 || roles.z >= 0;
  const int given_x = roles.x, given_y = roles.y;
  for (std::size_t f = 0; f < kFamilies.size(); ++f) {
    const Family& family = kFamilies[f];
    const int x = given_x >= 0 ? given_x : find_axis(header, family, 'x');
    const int y = given_y >= 0 ? given_y : find_axis(header, family, 'y');
    if (x < 0 || y < 0) continue;
    roles.x = x;
    roles.y = y;
    roles.trackmate = !given && f == kTrackMate;
    if (roles.z < 0) roles.z = find_axis(header, family, 'z');
    if (roles.z < 0 && !given) reject_mixed_heights(header, roles, where);
    return;
  }
  if (assign_napari_axes(roles, header, where)) return;
  const int any_x = given_x >= 0 ? given_x : find_any_axis(header, 'x');
  const int any_y = given_y >= 0 ? given_y : find_any_axis(header, 'y');
  if (any_x >= 0 && any_y >= 0) reject_mixed_families(header, where, any_x, any_y);
  if (any_x >= 0) missing_column(header, where, roles, "y", "y_um, y or POSITION_Y");
  missing_column(header, where, roles, "x", "x_um, x or POSITION_X");
}

/// Requires that all of x, y, z state a unit, or none does.
void assign_unit(ColumnRoles& roles, const Header& header, const std::string& where) {
  std::array<double, 3> um{1, 1, 1};
  int stated = 0, silent = 0;
  const std::array<int, 3> axes{roles.x, roles.y, roles.z};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] < 0) continue;
    const std::string unit = split_unit(name_at(header, axes[a])).unit;
    const auto factor = length_unit_um(unit);
    ++(factor ? stated : silent);
    if (!factor) continue;
    um[a] = *factor;
    if (*factor != 1) roles.unit_name = unit;
  }
  if (stated > 0 && silent > 0) {
    throw InputError(where + ": only some of the coordinates state a unit in their names ('" +
                     name_at(header, roles.x) + "', '" + name_at(header, roles.y) + "'" +
                     (roles.z < 0 ? "" : ", '" + name_at(header, roles.z) + "'") + "); give all of them one");
  }
  roles.pixels = is_pixel(split_unit(name_at(header, roles.x)).unit);
  if (stated > 0) roles.um = Vec3{um[0], um[1], um[2]};
  if (!roles.um && lower_case(name_at(header, roles.x)) == "position x")
    roles.unit = find_column(header, {"unit"});
}

/// A column of times whose name states the unit: t_s, "time [ms]"; -1: none.
int find_times(const Header& header) {
  if (const int seconds = find_column(header, {"t_s", "time_s"}); seconds >= 0) return seconds;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const NamedUnit named = split_unit(header[i]);
    if ((named.base == "t" || named.base == "time") && time_unit_s(named.unit)) return static_cast<int>(i);
  }
  return -1;
}

/// Finds times that are not frame numbers: t_s, "time [ms]", POSITION_T.
void assign_time(ColumnRoles& roles, const Header& header) {
  if (roles.time < 0) roles.time = find_times(header);
  if (roles.time >= 0) {
    const std::string unit = split_unit(name_at(header, roles.time)).unit;
    roles.time_s = unit.empty() ? 1.0 : time_unit_s(unit).value_or(1.0);
  } else if (roles.trackmate) {
    roles.time = find_column(header, {"POSITION_T"});
  }
}

/// What to write if a column probably counts frames; begins with "; " if not empty. Positions with unusual
/// names are included, so that one attempt is enough.
std::string frame_hint(const Header& header, const ColumnRoles& roles) {
  const int frame = likely_frames(header);
  if (frame < 0) return "";
  const bool positions =
      (roles.x >= 0 || find_any_axis(header, 'x') >= 0) && (roles.y >= 0 || find_any_axis(header, 'y') >= 0);
  const std::string likely = positions ? "" : likely_positions(header);
  const std::string& name = name_at(header, frame);
  return "; if '" + name + "' counts frames, use " +
         columns_option("frame=" + name + (likely.empty() ? "" : "," + likely));
}

void assign_frame(ColumnRoles& roles, const Header& header, const std::string& where, bool time_given) {
  if (roles.frame >= 0) return;
  roles.frame = find_column(header, {"frame"});
  if (roles.frame == roles.time) roles.frame = -1;  // input.columns says that it holds times
  if (roles.frame < 0 && !time_given) {
    roles.frame = find_column(header, {"t"});
    roles.bare_t = roles.frame >= 0;
  }
  if (roles.frame < 0 && roles.unit >= 0)
    roles.frame = find_column(header, {"time"});  // Imaris counts frames
  if (roles.frame < 0 && !time_given) {
    if (find_times(header) >= 0) return;
    const std::string hint = frame_hint(header, roles);
    throw InputError(where +
                     ": no frame column; name it with --columns frame=NAME, or time=NAME for seconds (the "
                     "columns are " +
                     listing(header) + ")" + hint + header_hint(header));
  }
}

void assign_identities(ColumnRoles& roles, const Header& header) {
  if (roles.track < 0)
    roles.track = find_column(
        header, {"particle", "track", "track_id", "trackid", "track id", "track #", "trajectory"});
  // A plain ID is the number of a spot, but in btrack's tables, which also have the root, that of a track.
  if (roles.track < 0 && find_column(header, {"root"}) >= 0 && find_column(header, {"generation"}) >= 0) {
    roles.track = find_column(header, {"ID"});
    roles.own_parent = roles.track >= 0;
  }
  if (roles.parent < 0) roles.parent = find_column(header, {"parent", "parent_track_id"});
  if (roles.parent == roles.track) roles.parent = -1;  // Imaris calls the track so; input.columns says it
  roles.merged = find_column(header, {"merged_into"});
}

void take_given(ColumnRoles& roles, const Header& header, const std::string& where,
                const ColumnNames& given) {
  const std::map<std::string, int*> slots{{"x", &roles.x},          {"y", &roles.y},
                                          {"z", &roles.z},          {"frame", &roles.frame},
                                          {"time", &roles.time},    {"particle", &roles.track},
                                          {"parent", &roles.parent}};
  std::map<int, std::string> role_of;
  for (const auto& [role, name] : given) {
    const auto slot = slots.find(role);
    if (slot == slots.end()) continue;
    *slot->second = find_column(header, {name});
    if (*slot->second >= 0) {
      const auto [other, is_new] = role_of.try_emplace(*slot->second, role);
      if (is_new) continue;
      throw UsageError("input.columns: '" + name + "' is called " + other->second + " and " + role +
                       "; name two columns");
    }
    throw UsageError("input.columns: " + role + ": " + where + " has no column '" + name + "'; it has " +
                     listing(header));
  }
}

bool is_row_index(const std::string& name) { return name.empty() || name == "Unnamed: 0"; }

}  // namespace

std::string listing(const Header& header) {
  constexpr std::size_t kMost = 12, kLongest = 30;
  std::string text;
  for (std::size_t i = 0; i < std::min(header.size(), kMost); ++i)
    text += (i > 0 ? ", " : "") + ("'" + header[i].substr(0, kLongest) + "'");
  return header.size() > kMost ? text + " ..." : text;
}

bool is_pixel(std::string_view unit) {
  const std::string folded = lower_case(unit);
  return folded == "px" || folded == "pixel" || folded == "pixels" || folded == "voxel" || folded == "voxels";
}

bool is_unit(std::string_view unit) {
  return length_unit_um(unit).has_value() || time_unit_s(unit).has_value() || is_pixel(unit);
}

std::string_view bare_unit(std::string_view text) {
  text = trimmed(text);
  if (text.size() >= 2 &&
      ((text.front() == '(' && text.back() == ')') || (text.front() == '[' && text.back() == ']')))
    text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

ColumnRoles assign_roles(const Header& header, const std::string& where, const ColumnNames& given) {
  reject_repeated_names(header, where);
  ColumnRoles roles;
  take_given(roles, header, where, given);
  const bool time_given = roles.time >= 0;
  // Messages name missing columns in the order in which people read, frame first.
  if (find_column(header, {"axis-0"}) < 0) {
    ColumnRoles probe = roles;
    probe.unit = find_column(header, {"position x"}) >= 0 ? find_column(header, {"unit"}) : -1;
    assign_frame(probe, header, where, time_given);
  }
  assign_coordinates(roles, header, where);
  assign_unit(roles, header, where);
  assign_frame(roles, header, where, time_given);
  assign_identities(roles, header);
  assign_time(roles, header);
  const auto used = {roles.frame,  roles.x,      roles.y,    roles.z,   roles.track,
                     roles.parent, roles.merged, roles.time, roles.unit};
  for (int i = 0; i < static_cast<int>(header.size()); ++i) {
    if (is_row_index(name_at(header, i))) continue;
    if (std::find(used.begin(), used.end(), i) == used.end()) roles.properties.push_back(i);
  }
  return roles;
}

}  // namespace motes::io::detail
