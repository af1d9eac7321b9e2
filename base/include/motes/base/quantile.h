#pragma once
/// Quantiles of small samples.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace motes {

/// The value of rank floor(share * (n - 1)), counted from 0, among n >= 1 values; `share` is in [0, 1], and
/// no value may be NaN. Reorders the values. O(n).
template <class T>
T quantile(std::vector<T>& values, double share) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace motes
