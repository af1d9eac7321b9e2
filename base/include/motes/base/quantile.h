#pragma once
/// Quantiles of small samples.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace motes {

/// The value of rank floor(share * (n - 1)), counted from 0, of the n values in ascending order; there must
/// be one, and none may be NaN. `share` lies in 0..1. The values are left in another order. O(n).
template <class T>
T quantile(std::vector<T>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace motes
