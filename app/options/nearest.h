#pragma once
/// "Did you mean": the known name closest to a mistyped one.

#include <span>
#include <string>
#include <string_view>

namespace motes::app {

/// Smallest number of single-letter insertions, deletions and replacements that turn `a` into `b`. O(|a|
/// |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that `word` is likely to stand for, the first one on a tie; empty if it differs from all of
/// them in more than half of its letters. A candidate whose last part equals that of `word` (the key of
/// another section), or begins with `word`, counts as at most one edit away, one that begins almost so as
/// two.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'NAME'?", or `otherwise` if there is no such candidate.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         const std::string& otherwise);

}  // namespace motes::app
