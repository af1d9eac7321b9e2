#include "tracking/link/large/copies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <set>
#include <tuple>

#include <motes/base/index.h>
#include <motes/tracking/linker.h>

#include "tracking/link/point_order.h"

namespace motes::tracking::detail {
namespace {

using matching::Index;
/// Most links between coincident detections: per detection of the series, or in all if that is more.
constexpr std::size_t kLinksForEach = 12, kFewLinks = 1 << 18;
using Place = std::tuple<double, double, double>;

Place place_of(const SeriesPoints& points, Index i) {
  const Vec3& p = points.at[at(i)];
  return {p.x, p.y, p.z};
}

/// Calls act(begin, end) for the detections of each frame and place, [begin, end) of `order`.
template <class Act>
void for_each_place(const SeriesPoints& points, const std::vector<Index>& order, const Act& act) {
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && points.slot[at(order[end])] == points.slot[at(order[begin])] &&
           place_of(points, order[end]) == place_of(points, order[begin]))
      ++end;
    act(begin, end);
  }
}

/// How many detections of a place are linked as single ones. At such a place the number of links of equal
/// cost is the square of that number.
std::size_t most_one_by_one(const SeriesPoints& points, const std::vector<Index>& order) {
  std::array<std::size_t, std::bit_width(kMostCoincident)> links{};  // by powers of two
  for_each_place(points, order, [&](std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin, power = at(std::bit_width(count - 1));
    if (count > 1 && power < links.size()) links[power] += count * count;
  });
  const std::size_t most_links = std::max(kFewLinks, kLinksForEach * order.size());
  std::size_t power = 0;
  for (std::size_t sum = 0; power + 1 < links.size() && (sum += links[power + 1]) <= most_links;) ++power;
  return std::size_t{1} << power;
}

}  // namespace

std::vector<Index> find_copies(const SeriesPoints& points, const std::vector<Index>& order) {
  const std::size_t most = most_one_by_one(points, order);
  std::set<Place> crowded;
  for_each_place(points, order, [&](std::size_t begin, std::size_t end) {
    if (end - begin > most) crowded.insert(place_of(points, order[begin]));
  });
  if (crowded.empty()) return {};
  std::vector<Index> copy_of(points.size(), -1);
  const auto take = [&](std::size_t begin, std::size_t end) {
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
    const Index one = *std::min_element(first, order.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t k = begin; k < end; ++k)
      if (order[k] != one) copy_of[at(order[k])] = one;
  };
  for_each_place(points, order, [&](std::size_t begin, std::size_t end) {
    if (end - begin > 1 && crowded.contains(place_of(points, order[begin]))) take(begin, end);
  });
  return copy_of;
}

void link_copies(SeriesLinks& links) {
  const std::vector<Index>& one = links.copy_of;
  std::vector<std::vector<Index>> copies(one.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    if (one[i] >= 0) {
      copies[at(one[i])].push_back(static_cast<Index>(i));
      links.linking.next[i] = -1;
    }
  std::fill(links.linking.previous.begin(), links.linking.previous.end(), Index{-1});
  const auto link = [&](Index i, Index j) {
    links.linking.next[at(i)] = j;
    links.linking.previous[at(j)] = i;
  };
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] >= 0 || links.linking.next[i] < 0) continue;
    const Index j = links.linking.next[i];
    link(static_cast<Index>(i), j);
    for (std::size_t k = 0; k < std::min(copies[i].size(), copies[at(j)].size()); ++k)
      link(copies[i][k], copies[at(j)][k]);
  }
}

SeriesLinks without_copies(const SeriesLinks& links, std::vector<Index>& order) {
  order.clear();
  for (std::size_t i = 0; i < links.copy_of.size(); ++i)
    if (links.copy_of[i] < 0) order.push_back(static_cast<Index>(i));
  const std::vector<Index> place = places_in(order, links.points.size());
  SeriesLinks out = links;
  out.copy_of.clear();
  out.points = select_points(links.points, order);
  out.points.density = links.points.density;
  out.points.spacing_um = links.points.spacing_um;
  out.linking = select_links(links.linking, order, place);
  out.prediction = select_prediction(links.prediction, order);
  out.links = out.linking.links();
  for (Index& k : out.jumped) k = place[at(k)];
  if (!links.used.empty()) {
    out.used.clear();
    for (const Index i : order) out.used.push_back(links.used[at(i)]);
  }
  for (Division& d : out.divisions.list)
    d = {place[at(d.mother)], place[at(d.first)], place[at(d.second)], d.gain};
  return out;
}

}  // namespace motes::tracking::detail
