#pragma once
/// Whether the divisions found are more than chance makes.

#include <cstdint>
#include <vector>

namespace motes::tracking::detail {

/// Fewer divisions are never significant.
inline constexpr std::int64_t kLeastDivisions = 5;

/// The result of a search: the gains of the divisions, and the number of starts that it could have used.
struct SearchGains {
  std::vector<double> gain;
  std::int64_t starts = 0;
};

/// How many of the divisions found chance explains: twice the number of divisions by chance that gain at
/// least as much as the median of those found. The weak ones do not count: every search finds some, and in a
/// colony of a few cells it finds many.
std::int64_t explained_by(const SearchGains& chance, const SearchGains& found);

/// Standard deviations by which the starts of `found` gain more than those of `chance` (Mann and Whitney's
/// rank sum, corrected for ties); starts without a division gain 0. O(starts log starts).
double rank_sum(const SearchGains& found, const SearchGains& chance);

/// Whether `found` divisions are significant: at least a few, most of them clear, twice as many as chance
/// `explained`, more than it by three standard deviations of their counts, and better than those of misplaced
/// starts by four of the rank sum. If most are sure, 2.5 and three standard deviations are enough.
bool exceed_chance(const SearchGains& found, const SearchGains& misplaced, std::int64_t explained);

}  // namespace motes::tracking::detail
