#pragma once
/// The upper tail of noise, told from values below it: it goes on as they do.

#include <optional>
#include <span>

namespace motes::tracking::detect {

/// The score that `count` extrema of noise are expected to exceed: the highest 3 % of `ascending` scores [n]
/// (100 at least, and four times what is asked for, up to half of all), below the answer, tell how they go on
/// beyond it; they are of fits of `dof` degrees of freedom. Each score stands for `weight` extrema. None for
/// fewer than 500 scores. Spots do no harm while they are few beside those. O(n).
std::optional<double> continued_level(std::span<const double> ascending, double count, double dof,
                                      double weight = 1);

/// The least of `ascending` values [n], responses of maxima, from which on at most a share `false_share` are
/// expected to be noise, as the highest three tenths of those below it go on. Infinity where none is that
/// clear. At most half of the values may be spots: none for fewer than kFewestBelow beside them. O(log^2 n).
std::optional<double> level_over_tail(std::span<const double> ascending, double false_share);

}  // namespace motes::tracking::detect
