#pragma once
/// Extrapolates the upper tail of noise from the values below it.

#include <optional>
#include <span>

namespace motes::tracking::detect {

/// The score that `count` extrema of noise are expected to exceed. It is extrapolated from the scores just
/// below it: the highest 3 % of `ascending` scores [n] (at least 100 and four times `count`, up to half of
/// all). The scores are of fits with `dof` degrees of freedom; each stands for `weight` extrema. None for
/// fewer than 500 scores. Spots do no harm if they are few compared with these. O(n).
std::optional<double> continued_level(std::span<const double> ascending, double count, double dof,
                                      double weight = 1);

/// The lowest of `ascending` values [n] (responses of maxima) from which on at most a share `false_share` is
/// expected to be noise, by extrapolation of the highest three tenths of those below it. Infinity if no value
/// is that clear. At most half of the values may be spots. None for fewer than kFewestBelow other values.
/// O(log^2 n).
std::optional<double> level_over_tail(std::span<const double> ascending, double false_share);

}  // namespace motes::tracking::detect
