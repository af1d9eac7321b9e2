/// The edit distance between names.

#include "app/options/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace motes::app {
namespace {

/// Longer words are not mistyped names, and the distance is quadratic.
constexpr std::size_t kLongestWord = 200;

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
}

/// Edit distances from `a` to all beginnings of `b`.
std::vector<std::size_t> prefix_distances(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
    }
    std::swap(previous, current);
  }
  return previous;
}

/// Edits from the typed word to a candidate, where less than a whole name is typed often.
std::size_t edits(std::string_view typed, std::string_view candidate) {
  constexpr std::size_t kShortestBeginning = 3;
  const std::vector<std::size_t> distances = prefix_distances(typed, candidate);
  const std::string_view name = last_part(candidate);
  std::size_t best = distances.back();
  if (!last_part(typed).empty() && last_part(typed) == name) best = std::min<std::size_t>(best, 1);
  if (typed.size() < kShortestBeginning) return best;
  // `gate` of linking.gate_um, `--out` of --output
  if (name.starts_with(typed) || candidate.starts_with(typed)) best = std::min<std::size_t>(best, 1);
  // `--tresh` of --threshold
  if (*std::min_element(distances.begin(), distances.end()) <= 1) best = std::min<std::size_t>(best, 2);
  return best;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) { return prefix_distances(a, b).back(); }

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string_view typed = word.substr(0, kLongestWord);
  const std::string* best = nullptr;
  std::size_t fewest = 0;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edits(typed, candidate);
    if (best != nullptr && distance >= fewest) continue;
    best = &candidate;
    fewest = distance;
  }
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  return best == nullptr || 2 * fewest > letters ? std::string() : *best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         const std::string& otherwise) {
  const std::string name = nearest(word, candidates);
  return name.empty() ? otherwise : "; did you mean '" + name + "'?";
}

}  // namespace motes::app
