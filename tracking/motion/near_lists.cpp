#include "tracking/motion/near_lists.h"

#include <utility>

#include "tracking/motion/all_nearest.h"

namespace motes::tracking {

NearLists::NearLists(std::span<const Vec3> points) : complete_(points.size() <= kListed) {
  AllNearest near = all_nearest(points, kListed);
  listed_ = near.count;
  index_ = std::move(near.index);
}

}  // namespace motes::tracking
