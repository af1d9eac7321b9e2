#include "sim/detail/photon_table.h"

#include <algorithm>
#include <cmath>

#include "sim/random.h"

namespace motes::sim::detail {

PhotonTable::PhotonTable(double mean) {
  // Nine standard deviations and forty counts: what lies outside has a probability far below 2^-33.
  const double reach = 9 * std::sqrt(mean) + 40;
  first_ = static_cast<std::int32_t>(std::max(0.0, std::floor(mean - reach)));
  const auto last = static_cast<std::int32_t>(std::ceil(mean + reach));
  double sum = 0;
  for (std::int32_t k = first_; k <= last; ++k) {
    sum += mean > 0 ? std::exp(k * std::log(mean) - mean - log_factorial(k)) : (k == 0 ? 1.0 : 0.0);
    upper_.push_back(static_cast<std::uint64_t>(std::llround(std::min(sum, 1.0) * 0x1p32)));
  }
  upper_.back() = std::uint64_t{1} << 32;

  guide_.resize(std::size_t{1} << kGuideBits);
  std::uint32_t i = 0;
  for (std::size_t lead = 0; lead < guide_.size(); ++lead) {
    while (upper_[i] <= static_cast<std::uint64_t>(lead) << kGuideShift) ++i;
    guide_[lead] = i;
  }
}

}  // namespace motes::sim::detail
