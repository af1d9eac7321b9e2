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

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
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
  return previous[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string_view typed = word.substr(0, kLongestWord);
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    std::size_t distance = edit_distance(typed, candidate);
    const std::string_view name = last_part(candidate);
    const bool moved = !last_part(typed).empty() && last_part(typed) == name;
    // `gate` of linking.gate_um, `--out` of --output
    const bool begun = typed.size() > 2 && (name.starts_with(typed) || candidate.starts_with(typed));
    if (moved || begun) distance = std::min<std::size_t>(distance, 1);
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         const std::string& help) {
  const std::string name = nearest(word, candidates);
  const auto letters = [](std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('-'), text.size()));
  };
  const std::size_t length = letters(word).size();
  const std::string_view typed = letters(word).substr(0, kLongestWord);
  const bool like = !name.empty() && (edit_distance(typed, letters(name)) * 2 <= length ||
                                      (length > 2 && letters(name).starts_with(typed)));
  return like ? "; did you mean '" + name + "'? See " + help : "; see " + help;
}

}  // namespace motes::app
