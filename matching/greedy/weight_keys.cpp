/// Conversion of weights to keys: floats by their bits, other weights by their rank.

#include "matching/greedy/weight_keys.h"

#include <algorithm>
#include <limits>
#include <span>
#include <type_traits>

#include <motes/base/workspace.h>

namespace motes::matching {
namespace {

bool is_float(double weight) {
  return weight <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(weight)) == weight;
}
bool is_float(std::int64_t weight) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;  // beyond it the conversion back could overflow
  return weight <= kFar && static_cast<std::int64_t>(static_cast<float>(weight)) == weight;
}

/// The weights as floats; empty if one of them is not exactly a float.
template <class T>
std::vector<float> as_floats(std::span<const T> weights, int threads) {
  const auto count = static_cast<Offset>(weights.size());
  std::vector<float> floats(weights.size());
  bool exact = true;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(&& : exact) if (threads > 1)
  for (Offset e = 0; e < count; ++e) {
    const T weight = weights[static_cast<std::size_t>(e)];
    if (!is_float(weight)) {
      exact = false;
      continue;
    }
    floats[static_cast<std::size_t>(e)] = static_cast<float>(weight);
  }
  if (!exact) floats.clear();
  return floats;
}

template <class T>
std::vector<std::uint32_t> ranks_of(std::span<const T> weights, int threads) {
  std::vector<T> distinct(weights.begin(), weights.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() >= std::numeric_limits<std::uint32_t>::max())
    throw ResourceError("greedy: more than 2^32 - 2 distinct weights; give them as floats");
  std::vector<std::uint32_t> ranks(weights.size());
  const auto count = static_cast<Offset>(weights.size());
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (Offset e = 0; e < count; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const auto place = std::lower_bound(distinct.begin(), distinct.end(), weights[at]);
    ranks[at] = static_cast<std::uint32_t>(place - distinct.begin()) + 1;
  }
  return ranks;
}

}  // namespace

Keys::Keys(const Weights& weights, int threads) {
  std::visit(
      [&]<class T>(std::span<const T> given) {
        if (given.empty()) return;
        if constexpr (std::is_same_v<T, float>) {
          floats_ = given.data();
        } else {
          converted_ = as_floats(given, threads);
          if (converted_.empty())
            ranks_ = ranks_of(given, threads);
          else
            floats_ = converted_.data();
        }
      },
      weights);
}

}  // namespace motes::matching
