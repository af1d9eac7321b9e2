#include "tracking/detect/fit/fit_neighbours.h"

#include <algorithm>
#include <cmath>

#include <motes/base/parallel_for.h>

namespace motes::tracking::detect {
namespace {

struct Placed {
  Place place;
  std::uint32_t spot;
};

/// Calls use(spot) for those of `placed`, in order of x, that lie within `reach` of the k-th.
template <class Use>
void each_within(std::span<const Placed> placed, std::size_t k, const Place& reach, const Use& use) {
  const Place& p = placed[k].place;
  const auto n = static_cast<std::ptrdiff_t>(placed.size());
  const auto look = [&](std::ptrdiff_t from, std::ptrdiff_t step) {
    for (std::ptrdiff_t m = from; m >= 0 && m < n; m += step) {
      const Placed& q = placed[static_cast<std::size_t>(m)];
      if (std::abs(q.place[0] - p[0]) > reach[0]) break;
      if (std::abs(q.place[1] - p[1]) <= reach[1] && std::abs(q.place[2] - p[2]) <= reach[2]) use(q.spot);
    }
  };
  look(static_cast<std::ptrdiff_t>(k) - 1, -1);
  look(static_cast<std::ptrdiff_t>(k) + 1, 1);
}

}  // namespace

SpotNeighbours::SpotNeighbours(int threads, std::span<const Place> places, const Place& reach) {
  const std::size_t n = places.size();
  std::vector<Placed> placed(n);
  for (std::size_t i = 0; i < n; ++i) placed[i] = {places[i], static_cast<std::uint32_t>(i)};
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return a.place[0] != b.place[0] ? a.place[0] < b.place[0] : a.spot < b.spot;
  });
  std::vector<std::vector<std::uint32_t>> near(n);
  constexpr std::size_t kTask = 64;
  parallel_for(threads, static_cast<std::int64_t>((n + kTask - 1) / kTask), [&](std::int64_t task) {
    const std::size_t first = static_cast<std::size_t>(task) * kTask;
    for (std::size_t k = first; k < std::min(n, first + kTask); ++k) {
      std::vector<std::uint32_t>& own = near[placed[k].spot];
      each_within(placed, k, reach, [&](std::uint32_t spot) { own.push_back(spot); });
      std::sort(own.begin(), own.end());
    }
  });
  for (const auto& own : near) {
    neighbours_.insert(neighbours_.end(), own.begin(), own.end());
    offsets_.push_back(neighbours_.size());
  }
}

}  // namespace motes::tracking::detect
