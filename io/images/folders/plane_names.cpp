/// Recognises t, z and c in file names.

#include "io/images/folders/plane_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "io/files/text.h"

namespace motes::io::detail {
namespace {

constexpr std::string_view kPlaneAxes = "TZC";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// A number in a name, and the word before it.
struct Count {
  std::string word;
  std::int64_t number;
};

std::vector<Count> counts_in(const std::string& name) {
  std::vector<Count> counts;
  std::string word;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_digit(name[i])) {
      if (is_letter(name[i])) {
        const bool begins = i == 0 || !is_letter(name[i - 1]);
        if (begins) word.clear();
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
      }
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    counts.push_back({word, parse_integer(std::string_view(name).substr(i, end - i)).value_or(-1)});
    word.clear();
    i = end;
  }
  return counts;
}

char axis_of(const std::string& word) {
  static const std::map<std::string, char> kWords{
      {"t", 'T'},     {"time", 'T'}, {"timepoint", 'T'}, {"frame", 'T'},   {"z", 'Z'}, {"slice", 'Z'},
      {"plane", 'Z'}, {"c", 'C'},    {"ch", 'C'},        {"channel", 'C'}, {"w", 'C'}};
  const auto found = kWords.find(word);
  return found == kWords.end() ? '\0' : found->second;
}

/// The place of a file along each axis, from its name.
using Place = std::array<std::string, 3>;  // T, Z, C; numbers padded, so that they sort

std::string padded(std::int64_t number) {
  std::string digits = std::to_string(number);
  return std::string(20 - std::min<std::size_t>(20, digits.size()), '0') + digits;
}

/// Places by words in the names; none if a varying number has no axis word, or two have the same one.
std::optional<std::vector<Place>> places_by_words(const std::vector<std::filesystem::path>& files) {
  std::vector<std::vector<Count>> names;
  for (const auto& file : files) names.push_back(counts_in(file.stem().string()));
  std::vector<Place> places(files.size());
  std::set<char> seen;
  for (std::size_t n = 0; n < names.front().size(); ++n) {
    bool varies = false;
    for (const auto& counts : names) {
      if (counts.size() != names.front().size() || counts[n].word != names.front()[n].word ||
          counts[n].number < 0)
        return std::nullopt;
      varies = varies || counts[n].number != names.front()[n].number;
    }
    if (!varies) continue;
    const char letter = axis_of(names.front()[n].word);
    if (letter == '\0' || !seen.insert(letter).second) return std::nullopt;
    for (std::size_t f = 0; f < files.size(); ++f)
      places[f][kPlaneAxes.find(letter)] = padded(names[f][n].number);
  }
  return seen.empty() ? std::nullopt : std::optional(places);
}

/// Places by MicroManager 1.4's names: img_TIME_CHANNEL_PLANE.
std::optional<std::vector<Place>> places_by_micromanager(const std::vector<std::filesystem::path>& files) {
  std::vector<Place> places;
  for (const auto& file : files) {
    const std::string name = file.stem().string();
    const std::size_t second = name.find('_', 4), last = name.rfind('_');
    if (!name.starts_with("img_") || second == std::string::npos || last <= second) return std::nullopt;
    const auto t = parse_integer(std::string_view(name).substr(4, second - 4));
    const auto z = parse_integer(std::string_view(name).substr(last + 1));
    if (!t || !z || *t < 0 || *z < 0 || second - 4 < 9) return std::nullopt;
    places.push_back({padded(*t), padded(*z), name.substr(second + 1, last - second - 1)});
  }
  return places;
}

/// Whether padded numbers increase by equal steps, so that none is missing. Also true for one empty text.
bool rises_evenly(const std::vector<std::string>& values) {
  for (std::size_t i = 2; i < values.size(); ++i) {
    const auto number = [&](std::size_t k) { return parse_integer(values[k]).value_or(0); };
    if (number(i) - number(i - 1) != number(1) - number(0)) return false;
  }
  return true;
}

}  // namespace

std::optional<PlaneGrid> grid_of_names(const std::vector<std::filesystem::path>& files) {
  if (files.size() < 2) return std::nullopt;
  auto places = places_by_micromanager(files);
  const bool named_channels = places.has_value();
  if (!places) places = places_by_words(files);
  if (!places) return std::nullopt;
  std::array<std::vector<std::string>, 3> values;
  for (std::size_t a = 0; a < 3; ++a) {
    std::set<std::string> distinct;
    for (const Place& place : *places) distinct.insert(place[a]);
    values[a].assign(distinct.begin(), distinct.end());
  }
  for (std::size_t a = 0; a < 3; ++a)
    if (!(a == 2 && named_channels) && !rises_evenly(values[a])) return std::nullopt;
  const std::size_t total = values[0].size() * values[1].size() * values[2].size();
  if (total != files.size()) return std::nullopt;
  PlaneGrid grid;
  grid.files.assign(total, -1);
  for (std::size_t f = 0; f < files.size(); ++f) {
    std::size_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto found = std::lower_bound(values[a].begin(), values[a].end(), (*places)[f][a]);
      at = at * values[a].size() + static_cast<std::size_t>(found - values[a].begin());
    }
    if (grid.files[at] >= 0) return std::nullopt;
    grid.files[at] = static_cast<std::int64_t>(f);
  }
  for (std::size_t a = 0; a < 3; ++a)
    grid.axes.push_back({kPlaneAxes[a], static_cast<std::int64_t>(values[a].size())});
  if (named_channels) grid.channels = values[2];
  return grid;
}

char counted_axis(const std::vector<std::filesystem::path>& files) {
  char found = '\0';
  std::vector<std::vector<Count>> names;
  for (const auto& file : files) names.push_back(counts_in(file.stem().string()));
  for (std::size_t n = 0; n < names.front().size(); ++n) {
    bool varies = false;
    for (const auto& counts : names) {
      if (counts.size() != names.front().size() || counts[n].word != names.front()[n].word) return '\0';
      varies = varies || counts[n].number != names.front()[n].number;
    }
    if (!varies) continue;
    if (found != '\0') return '\0';
    found = axis_of(names.front()[n].word);
    if (found == '\0') return '\0';
  }
  return found;
}

}  // namespace motes::io::detail
