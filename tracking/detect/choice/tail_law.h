#pragma once
/// Extrapolates the upper tail of noise from the values below it.

#include <algorithm>
#include <optional>
#include <span>

namespace motes::tracking::detect {

/// Share of `all` extrema that the extrapolation to `count` of them uses.
inline double share_in_tail(double count, double all) {
  constexpr double kLeastShare = 0.03, kMostShare = 0.5, kLeast = 100, kOverCount = 4;
  return std::clamp(std::max(kLeast, kOverCount * count) / all, kLeastShare, kMostShare);
}

/// The score that `count` extrema of noise are expected to exceed. It is extrapolated from the scores just
/// below it: the highest 3 % of `ascending` scores [n] (at least 100 and four times `count`, up to half of
/// all). The scores are of fits with `dof` degrees of freedom; each stands for `weight` extrema. None for
/// fewer than 500 scores. Spots do no harm if they are few compared with these. O(n).
std::optional<double> continued_level(std::span<const double> ascending, double count, double dof,
                                      double weight = 1);

/// The same for the scores `up` of maxima that are not known to be spots. If spots are so many that they make
/// the tail, the level is that of the minima (`down`, each of which stands for `weight`), `lopsided()` times
/// as high. Both are ascending; `lopsided` is called only if it matters.
template <class Lopsided>
std::optional<double> continued_level_of_maxima(std::span<const double> up, std::span<const double> down,
                                                double count, double dof, double weight,
                                                const Lopsided& lopsided) {
  constexpr double kCrowdedTail = 20;     // this many times as many as noise gives: spots make the tail
  constexpr double kMostLopsided = 1.35;  // tail of maxima over that of minima, for shot noise
  const std::optional<double> own = continued_level(up, count, dof);
  const std::optional<double> bound = own ? continued_level(down, count, dof, weight) : std::nullopt;
  if (!bound || *own <= kMostLopsided * *bound) return own;
  const double most = kMostLopsided * lopsided() * *bound;
  const auto over = static_cast<double>(up.end() - std::lower_bound(up.begin(), up.end(), most));
  return over > kCrowdedTail * (count + 1) ? std::min(*own, most) : *own;
}

/// The lowest of `ascending` values [n] (responses of maxima) from which on at most a share `false_share` is
/// expected to be noise, by extrapolation of the highest three tenths of those below it. Infinity if no value
/// is that clear. At most half of the values may be spots. None for fewer than kFewestBelow other values.
/// O(log^2 n).
std::optional<double> level_over_tail(std::span<const double> ascending, double false_share);

}  // namespace motes::tracking::detect
