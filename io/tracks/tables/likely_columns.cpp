/// Guesses which columns people mean.

#include "io/tracks/tables/likely_columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

using Header = std::vector<std::string>;

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Letters and digits in lower case: "Time Point", "time_point" and "TimePoint" are "timepoint".
std::string folded(std::string_view name) {
  std::string text = lower_case(name);
  std::erase_if(text, [](char c) { return !is_alphanumeric(c); });
  return text;
}

bool is_column(const Header& header, std::string_view name) {
  return std::find(header.begin(), header.end(), name) != header.end();
}

/// "x=NAME,y=NAME,z=NAME" of the names that exist; empty without x or y.
std::string joined(const Header& header, const std::array<std::string, 3>& names) {
  if (!is_column(header, names[0]) || !is_column(header, names[1])) return "";
  return "x=" + names[0] + ",y=" + names[1] + (is_column(header, names[2]) ? ",z=" + names[2] : "");
}

/// The columns called as `x`, but with another letter at `at`.
std::string lettered(const Header& header, const std::string& x, std::size_t at) {
  std::array<std::string, 3> names{x, x, x};
  for (const std::size_t axis : {1, 2}) names[axis][at] = static_cast<char>(x[at] + static_cast<char>(axis));
  return joined(header, names);
}

/// The columns called as `first`, which ends in 0, but with other digits.
std::string numbered(const Header& header, const std::string& first) {
  if (first.size() < 2 || !first.ends_with('0') || is_alphanumeric(first[first.size() - 2])) return "";
  const bool slowest_first = first[first.size() - 2] == '-';  // as in scikit-image
  std::array<std::string, 3> names{first, first, first};
  names[1].back() = '1';
  names[2].back() = '2';
  if (slowest_first && is_column(header, names[2])) std::swap(names[0], names[2]);
  if (slowest_first && !is_column(header, names[2])) std::swap(names[0], names[1]);
  return joined(header, names);
}

bool sounds_like_position(const std::string& name) {
  const std::string lower = lower_case(name);
  const auto contains = [&](std::string_view part) { return lower.find(part) != std::string::npos; };
  return contains("cent") || contains("pos") || contains("com_") || contains("loc");
}

}  // namespace

int likely_frames(const Header& header) {
  constexpr std::array<std::string_view, 17> kNames{
      "frame",        "frameno",    "slice",         "timepoint",         "timestep",   "timeindex",
      "time",         "frameindex", "frameix",       "framenumber",       "frameid",    "framenr",
      "roitimepoint", "metadatat",  "metadataframe", "metadatatimepoint", "imagenumber"};
  for (const std::string_view name : kNames)
    for (std::size_t i = 0; i < header.size(); ++i)
      if (folded(header[i]) == name) return static_cast<int>(i);
  for (const std::string_view end :
       {"slicen", "slicenumber", "firstframe", "startframe", "framestart", "frame"})
    for (std::size_t i = 0; i < header.size(); ++i)
      if (folded(header[i]).ends_with(end)) return static_cast<int>(i);
  return -1;
}

int likely_tracks(const Header& header) {
  const auto find = [&](auto fits) {
    const auto found =
        std::find_if(header.begin(), header.end(), [&](const auto& name) { return fits(folded(name)); });
    return found == header.end() ? -1 : static_cast<int>(found - header.begin());
  };
  const auto contains = [](const std::string& name, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
  };
  const int numbers = find([&](const std::string& name) {
    return contains(name, {"track", "traj"}) && contains(name, {"id", "label", "number", "index"});
  });
  if (numbers >= 0) return numbers;
  return find([&](const std::string& name) {
    return contains(name, {"track", "traj"}) || name == "particleid" || name == "cellid" || name == "parent";
  });
}

std::string likely_positions(const Header& header) {
  std::string other;
  for (const std::string& name : header) {
    for (std::size_t at = name.find_first_of("xX"); at != std::string::npos;
         at = name.find_first_of("xX", at + 1)) {
      const std::string found = lettered(header, name, at);
      if (!found.empty() && sounds_like_position(name)) return found;
      if (other.empty()) other = found;
    }
    if (const std::string found = numbered(header, name); !found.empty() && sounds_like_position(name))
      return found;
  }
  for (const auto& name : header)
    if (other.empty() && (folded(name) == "col" || folded(name) == "column"))
      for (const auto& row : header)
        if (folded(row) == "row") other = "x=" + name + ",y=" + row;
  return other;
}

std::string columns_option(const std::string& names) {
  const bool plain = std::all_of(names.begin(), names.end(), [](char c) {
    return is_alphanumeric(c) || std::string_view("_-=,.").find(c) != std::string_view::npos;
  });
  return "--columns " + (plain ? names : '"' + names + '"');
}

}  // namespace motes::io::detail
