#include "tracking/motion/near_lists.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tracking/motion/near_points.h"

namespace motes::tracking {

NearLists::NearLists(std::span<const Vec3> points)
    : listed_(std::min(kListed, points.size())), complete_(points.size() <= kListed) {
  if (points.empty()) return;
  index_.resize(points.size() * listed_);
  const NearPoints near(points);
  std::array<std::size_t, kListed> index{};
  std::array<double, kListed> squared{};
  std::array<std::pair<double, std::size_t>, kListed> found;
  for (std::size_t i = 0; i < points.size(); ++i) {
    near.nearest(points[i], listed_, index.data(), squared.data());
    for (std::size_t k = 0; k < listed_; ++k) found[k] = {squared[k], index[k]};
    std::sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(listed_));
    for (std::size_t k = 0; k < listed_; ++k)
      index_[i * listed_ + k] = static_cast<std::int32_t>(found[k].second);
  }
}

}  // namespace motes::tracking
