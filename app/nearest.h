#pragma once
/// "Did you mean": the known name closest to a mistyped one.

#include <span>
#include <string>
#include <string_view>

namespace motes::app {

/// Least number of single-letter insertions, deletions and replacements that turn `a` into `b`. O(|a| |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`; the earlier one on a tie, empty where there are no candidates. For dotted
/// key paths a candidate with the same last part counts as one edit away: the key stands in another section.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

/// "; did you mean 'NAME'? See HELP", or "; see HELP" where the nearest candidate shares too little with the
/// word.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates,
                         const std::string& help);

}  // namespace motes::app
