#pragma once
/// Series of particles whose links are known.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <motes/tracking/series_links.h>

namespace motes::testing {

inline void add(Detections& d, const Vec3& p) {
  d.x_um.push_back(p.x);
  d.y_um.push_back(p.y);
  d.z_um.push_back(p.z);
}

inline Vec3 uniform_point(std::mt19937_64& rng, double side) {
  std::uniform_real_distribution<> uniform(0, side);
  const double x = uniform(rng), y = uniform(rng), z = uniform(rng);
  return {x, y, z};
}

inline Vec3 direction(std::mt19937_64& rng) {
  std::normal_distribution<> normal;
  const double x = normal(rng), y = normal(rng), z = normal(rng), length = std::hypot(x, y, z);
  return {x / length, y / length, z / length};
}

/// The linking of every detection to the detection of the same index in the next frame.
inline tracking::SeriesLinking all_right(const tracking::SeriesPoints& points, matching::Index n) {
  tracking::SeriesLinking out = tracking::SeriesLinking::none(points.size());
  for (std::size_t i = 0; i + static_cast<std::size_t>(n) < points.size(); ++i) {
    out.next[i] = static_cast<matching::Index>(i) + n;
    out.previous[i + static_cast<std::size_t>(n)] = static_cast<matching::Index>(i);
  }
  return out;
}

struct Walkers {
  std::vector<Detections> frames;     ///< each in random order
  std::vector<matching::Index> next;  ///< [pooled detections] the true links, -1 none
};

/// `n` particles at unit density in `count` frames. `of_frame(rng)` returns, for each frame, the function
/// that moves a position to the next frame.
template <class OfFrame>
Walkers walkers_moved(int n, int count, std::uint64_t seed, const OfFrame& of_frame) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform(0, std::cbrt(n));
  std::vector<Vec3> x(static_cast<std::size_t>(n));
  for (Vec3& p : x) p.x = uniform(rng), p.y = uniform(rng), p.z = uniform(rng);
  Walkers out;
  std::vector<matching::Index> last(x.size(), -1);
  for (int t = 0; t < count; ++t) {
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), rng);
    Detections d;
    d.frame = t;
    const auto move = of_frame(rng);
    for (const std::size_t k : order) {
      const auto place = static_cast<matching::Index>(out.next.size());
      if (last[k] >= 0) out.next[static_cast<std::size_t>(last[k])] = place;
      last[k] = place;
      out.next.push_back(-1);
      d.x_um.push_back(x[k].x), d.y_um.push_back(x[k].y), d.z_um.push_back(x[k].z);
      move(x[k]);
    }
    out.frames.push_back(std::move(d));
  }
  return out;
}

/// Particles at unit density that keep their direction except for `turn`, in a box with reflecting walls.
inline Walkers keen_walkers(int n, int frames, double step, double turn, std::uint64_t seed) {
  const double side = std::cbrt(n);
  std::vector<Vec3> way;
  std::mt19937_64 ways(seed + 1);
  std::normal_distribution<> normal;
  const auto unit = [&] {
    const Vec3 v{normal(ways), normal(ways), normal(ways)};
    return 1 / length_of(v) * v;
  };
  for (int k = 0; k < n; ++k) way.push_back(unit());
  const auto bounce = [side](double& x, double& v) {
    if (x < 0) x = -x, v = std::abs(v);
    if (x > side) x = 2 * side - x, v = -std::abs(v);
  };
  Walkers out;
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform(0, side);
  std::vector<Vec3> x(static_cast<std::size_t>(n));
  for (Vec3& p : x) p = {uniform(rng), uniform(rng), uniform(rng)};
  std::vector<matching::Index> last(x.size(), -1);
  for (int t = 0; t < frames; ++t) {
    Detections d;
    d.frame = t;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const auto place = static_cast<matching::Index>(out.next.size());
      if (last[k] >= 0) out.next[static_cast<std::size_t>(last[k])] = place;
      last[k] = place;
      out.next.push_back(-1);
      d.x_um.push_back(x[k].x), d.y_um.push_back(x[k].y), d.z_um.push_back(x[k].z);
      Vec3& v = way[k];
      v += turn * unit();
      x[k] += step / length_of(v) * v;
      bounce(x[k].x, v.x), bounce(x[k].y, v.y), bounce(x[k].z, v.z);
    }
    out.frames.push_back(std::move(d));
  }
  return out;
}

/// Share of the found links that are wrong.
inline double share_wrong(const Walkers& series, const tracking::SeriesLinks& links) {
  double wrong = 0, all = 0;
  for (std::size_t i = 0; i < series.next.size(); ++i)
    if (links.linking.next[i] >= 0) all += 1, wrong += links.linking.next[i] != series.next[i];
  return wrong / all;
}

/// Share of the true links that were found, if detection k of every frame is particle k.
inline double right_share(const std::vector<Detections>& frames, const tracking::SeriesLinking& linking) {
  const auto n = static_cast<matching::Index>(frames.front().size());
  const auto links = static_cast<std::size_t>(n) * (frames.size() - 1);
  double right = 0;
  for (std::size_t i = 0; i < links; ++i) right += linking.next[i] == static_cast<matching::Index>(i) + n;
  return right / static_cast<double>(links);
}

}  // namespace motes::testing
