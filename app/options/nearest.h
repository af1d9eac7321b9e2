#pragma once
/// "Did you mean": the known name closest to a mistyped one.

#include <span>
#include <string>
#include <string_view>

namespace motes::app {

/// Smallest number of single-letter insertions, deletions and replacements that turn `a` into `b`. O(|a|
/// |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`; the first one on a tie, empty if there are no candidates. A candidate
/// whose last part equals that of `word` (the key of another section), or begins with `word`, counts as at
/// most one edit away.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'NAME'? See HELP", or "; see HELP" if the nearest candidate has too little in common with
/// the word.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         const std::string& help);

}  // namespace motes::app
