#pragma once
/// The convention of all scores for a division by 0.

namespace motes::tracking::detail {

/// part / whole. If whole is 0: 1 if there was nothing to find and nothing was found, else 0.
inline double ratio(double part, double whole, bool both_empty) {
  if (whole > 0) return part / whole;
  return both_empty ? 1.0 : 0.0;
}

}  // namespace motes::tracking::detail
