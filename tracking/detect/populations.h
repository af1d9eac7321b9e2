#pragma once
/// Spots and texture told apart where they differ beyond doubt.

#include <span>

namespace motes::tracking::detect {

/// A quality between two populations of spots, or 0 where they do not fall into two. Two means: split by
/// Otsu's criterion on the logarithm, the upper part holds at least a twentieth of the spots and three of
/// them, is on average at least kPopulationRatio times better than the lower, and the means are at least
/// kPopulationSpread pooled standard deviations apart (any single broad or flat population stays below 3.5).
/// O(n log n).
double split_populations(std::span<const double> qualities);

inline constexpr double kPopulationRatio = 20;
inline constexpr double kPopulationSpread = 5;

}  // namespace motes::tracking::detect
