#include "tracking/link/series/candidates.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include <motes/base/errors.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/system/memory.h>

namespace motes::tracking {
namespace {

using matching::Index;
using matching::Offset;

constexpr Index kRowsPerBlock = 1024;
/// Width of the rows of grids, in spacings.
constexpr double kGridPerSpacing = 1;
/// Candidates are first searched among links whose cost exceeds the least possible one by at most this many
/// nats: kFirstNats for the first detection, later what the detection before needed plus kMoreNats. If there
/// are none, the search is repeated with kFartherNats.
constexpr double kFirstNats = 6, kMoreNats = 0.5;
constexpr std::array<double, 2> kFartherNats{6, 16};
/// Radii are tabulated in steps of kRadiusStep scales, up to kMostScales; below the first step each is
/// kRadiusRatio times the next one.
constexpr double kRadiusStep = 1.0 / 16, kMostScales = 24, kRadiusRatio = 0.70710678;
constexpr int kRadiiBelowStep = 40;
/// If this many times as many links are found as are kept, the search radius is reduced to that of the
/// nearest of them.
constexpr std::size_t kManyTimes = 4;
/// Tolerance of rounding errors of costs, in nats.
constexpr double kCostSlack = 1e-9;
/// Largest number of links kept with exactly the same cost as the most expensive one.
constexpr std::size_t kMostTied = 32;
/// Tolerance of rounding errors of lengths.
constexpr double kSlack = 1 + 1e-9;

std::int64_t candidates_in_memory() { return system::physical_memory() / 4 / 48; }

/// Candidates of one detection with their costs.
struct Row {
  RowGrid::Found near;        ///< within reach
  std::vector<double> price;  ///< of `near`: first distance, then cost
  std::vector<Index> to, tied;
  std::vector<double> cost, sorted;
  double nats = kFirstNats;  ///< limit of the first search, over the least possible cost

  void clear() { to.clear(), cost.clear(); }
};

/// The cost of the most expensive of the `most` cheapest; there are at least as many.
double most_kept(Row& row, std::size_t most) {
  row.sorted = row.cost;
  std::nth_element(row.sorted.begin(), row.sorted.begin() + static_cast<std::ptrdiff_t>(most) - 1,
                   row.sorted.end());
  return row.sorted[most - 1];
}

/// Removes those that cost more than `limit`.
void drop_above(Row& row, double limit) {
  std::size_t place = 0;
  for (std::size_t k = 0; k < row.to.size(); ++k) {
    row.to[place] = row.to[k];
    const double cost = row.cost[place] = row.cost[k];
    place += cost <= limit;
  }
  row.to.resize(place);
  row.cost.resize(place);
}

/// Keeps kMostTied of the links that cost `limit`. All detections at one place have these ties. Which links
/// are kept depends on the detection's `number`, so that these detections have different candidates.
void thin_ties(Row& row, double limit, Index number) {
  row.tied.clear();
  for (std::size_t k = 0; k < row.to.size(); ++k)
    if (row.cost[k] == limit) row.tied.push_back(row.to[k]);
  if (row.tied.size() <= kMostTied) return;
  const std::size_t first = at(number) % row.tied.size(), end = first + kMostTied,
                    over = end > row.tied.size() ? end - row.tied.size() : 0;
  const auto nth = [&](std::size_t k) {
    const auto place = row.tied.begin() + static_cast<std::ptrdiff_t>(k);
    if (place == row.tied.end()) return std::numeric_limits<Index>::max();
    std::nth_element(row.tied.begin(), place, row.tied.end());
    return *place;
  };
  // A cyclic range of the ties, beginning at `first`.
  const Index from = nth(first), to = nth(std::min(end, row.tied.size())), again = over > 0 ? nth(over) : 0;
  std::size_t place = 0;
  for (std::size_t k = 0; k < row.to.size(); ++k) {
    const Index j = row.to[k];
    if (row.cost[k] == limit && !(j >= from && j < to) && !(j < again)) continue;
    row.cost[place] = row.cost[k];
    row.to[place++] = j;
  }
  row.to.resize(place);
  row.cost.resize(place);
}

/// Removes all but the likely ones and `kept`. Returns the highest cost of a likely one.
double keep_likely(Row& row, Index number, Index kept, double nats, std::size_t most) {
  double limit = std::numeric_limits<double>::infinity();
  if (row.to.empty()) return limit;
  limit = *std::min_element(row.cost.begin(), row.cost.end()) + nats;
  if (row.to.size() > most) limit = std::min(limit, most_kept(row, most));
  bool has_kept = false;
  std::size_t place = 0;
  for (std::size_t k = 0; k < row.to.size(); ++k) {
    has_kept |= row.to[k] == kept;
    if (row.cost[k] > limit && row.to[k] != kept) continue;
    row.cost[place] = row.cost[k];
    row.to[place++] = row.to[k];
  }
  row.to.resize(place);
  row.cost.resize(place);
  if (place > most + kMostTied) {
    thin_ties(row, limit, number);
    if (has_kept && std::find(row.to.begin(), row.to.end(), kept) == row.to.end()) row.to.push_back(kept);
  }
  return limit;
}

/// For a level of likelihood, the length in scales beyond which all links are less likely.
class Radii {
 public:
  explicit Radii(const RadialDensity& shape) {
    radius_.push_back(0);
    for (int k = kRadiiBelowStep; k > 0; --k) radius_.push_back(kRadiusStep * std::pow(kRadiusRatio, k));
    for (double u = kRadiusStep; u <= kMostScales; u += kRadiusStep) radius_.push_back(u);
    for (const double u : radius_) most_.push_back(shape.most_beyond(u));
  }
  double highest() const { return most_.front(); }
  double at_level(double level) const {
    const auto first = std::partition_point(most_.begin(), most_.end(), [&](double m) { return m >= level; });
    return first == most_.end() ? std::numeric_limits<double>::infinity()
                                : radius_[at(first - most_.begin())];
  }

 private:
  std::vector<double> radius_, most_;  ///< rising, falling
};

class Finder {
 public:
  Finder(const SeriesPoints& points, const Prediction& prediction, const SeriesModel& model, int lags,
         const SeriesLinking* keep, double nats, std::size_t most, const SeriesGrids& grids,
         std::int32_t frames_before)
      : points_(points),
        prediction_(prediction),
        model_(model),
        lags_(lags),
        keep_(keep != nullptr && keep->next.size() == points.size() ? keep : nullptr),
        nats_(nats),
        most_(most),
        grids_(grids),
        costs_(model, points.frames()) {
    if (most > 0)
      for (int lag = 1; lag <= lags; ++lag) radii_.emplace_back(model.shape[at(lag) - 1]);
    const auto frames = at(points.frames());
    reach_.resize(frames * at(lags));
    least_.resize(frames);
    for (std::int32_t t = 0; t < points.frames(); ++t) {
      for (int lag = 1; lag <= lags && t + lag < points.frames(); ++lag)
        reach_[place(t, lag)] = model.reach(points, t, lag, frames_before);
      if (most == 0) continue;
      double least = std::numeric_limits<double>::infinity();
      for (int lag = 1; lag <= lags; ++lag)
        least = std::min(least, costs_.of(t, lag).constant - radii_[at(lag) - 1].highest());
      least_[at(t)] = least;
    }
  }

  /// Finds the candidates of detection i, in rising order.
  void find(Index i, Row& row) const {
    const std::int32_t t = points_.slot[at(i)];
    const int last = std::min(lags_, points_.frames() - 1 - t);
    constexpr double kAny = std::numeric_limits<double>::infinity();
    row.clear();
    if (most_ == 0) {
      for (int lag = 1; lag <= last; ++lag) look(i, t, lag, kAny, reach_[place(t, lag)], row);
      std::sort(row.to.begin(), row.to.end());
      return;
    }
    // One likely link, or as many links as are kept, bound the length of further ones. A search up to some
    // cost is complete once the last kept link costs no more than that.
    const double least = least_[at(t)];
    double most_cost = least + row.nats;
    for (bool all = false; !all;) {
      row.clear();
      double within = most_cost;
      for (int lag = 1; lag <= last; ++lag) {
        const std::size_t before = row.cost.size();
        look(i, t, lag, within, radius(t, lag, within), row);
        if (row.cost.size() < most_ || row.cost.size() == before) continue;
        within = std::min(within, most_kept(row, most_));
        if (row.cost.size() > most_) drop_above(row, within);
      }
      const double best = row.cost.empty() ? kAny : *std::min_element(row.cost.begin(), row.cost.end());
      all = row.cost.size() >= most_ || most_cost >= best + nats_ || most_cost == kAny;
      if (best < kAny) {
        most_cost = best + nats_;
      } else {
        const auto farther = std::find_if(kFartherNats.begin(), kFartherNats.end(),
                                          [&](double nats) { return least + nats > most_cost; });
        most_cost = farther == kFartherNats.end() ? kAny : least + *farther;
      }
    }
    const Index kept = keep_ != nullptr ? keep_->next[at(i)] : -1;
    if (kept >= 0) add_kept(i, t, kept, row);
    const double limit = keep_likely(row, i, kept, nats_, most_);
    std::sort(row.to.begin(), row.to.end());
    if (limit < kAny) row.nats = std::max(limit - least + kMoreNats, 0.0);
  }

 private:
  std::size_t place(std::int32_t t, int lag) const { return at(t) * at(lags_) + at(lag) - 1; }

  /// The longest link that costs at most `cost`.
  double radius(std::int32_t t, int lag, double cost) const {
    const LagCosts::Entry& entry = costs_.of(t, lag);
    const double reach = reach_[place(t, lag)];
    if (!std::isfinite(cost)) return reach;
    const double scales = radii_[at(lag) - 1].at_level(entry.constant - cost);
    return scales > kMostScales ? reach : std::min(reach, scales / entry.per_scale * kSlack);
  }

  Vec3 centre(Index i, int lag) const {
    const Vec3 &from = points_.at[at(i)], p = prediction_.of(lag, i);
    return {from.x + p.x, from.y + p.y, from.z + p.z};
  }

  bool gated(Index i, Index j, int lag) const {
    if (!model_.gate.bounded()) return false;
    const Vec3 &from = points_.at[at(i)], &to = points_.at[at(j)];
    return length_of({to.x - from.x, to.y - from.y, to.z - from.z}) > model_.gate.um * lag;
  }

  /// Adds the links over `lag` frames, within a radius, that cost at most `cost`.
  void look(Index i, std::int32_t t, int lag, double cost, double within, Row& row) const {
    const double reach = reach_[place(t, lag)];
    if (!(reach > 0) || !(within > 0)) return;
    RowGrid::Found& near = row.near;
    near.count = 0;
    near.look_at = most_ > 0 ? kManyTimes * most_ : std::numeric_limits<std::size_t>::max();
    grids_[at(t + lag)].find_within(centre(i, lag), within, near, [&](RowGrid::Found&) {
      take_distances(i, t, lag, reach, row);
      if (near.count > near.look_at) within = std::min(within, radius_of_nearest(t, lag, cost, row));
      near.look_at = std::max(near.look_at, kManyTimes * near.count);
      return within;
    });
    take_distances(i, t, lag, reach, row);
    const Index first = points_.offset[at(t + lag)];
    const std::size_t before = row.to.size(), most = before + near.count;
    row.to.resize(most);
    if (most_ == 0) {
      for (std::size_t k = 0; k < near.count; ++k) row.to[before + k] = first + near.number[k];
      return;
    }
    costs_.of(t, lag).costs(row.price);
    row.cost.resize(most);
    std::size_t place = before;
    for (std::size_t k = 0; k < near.count; ++k) {
      row.to[place] = first + near.number[k];
      row.cost[place] = row.price[k];
      place += row.price[k] <= cost;
    }
    row.to.resize(place);
    row.cost.resize(place);
  }

  /// Makes the distances of `near` the prices, without those beyond reach or gate.
  void take_distances(Index i, std::int32_t t, int lag, double reach, Row& row) const {
    RowGrid::Found& near = row.near;
    const Index first = points_.offset[at(t + lag)];
    const bool bounded = model_.gate.bounded();
    row.price.resize(near.count);
    std::size_t place = 0;
    for (std::size_t k = 0; k < near.count; ++k) {
      const double distance = std::sqrt(near.squared[k]);
      near.number[place] = near.number[k];
      near.squared[place] = near.squared[k];
      row.price[place] = distance;
      place += distance < reach && !(bounded && gated(i, first + near.number[k], lag));
    }
    near.count = place;
    row.price.resize(place);
  }

  /// The longest link that costs at most `cost` and no more than the cheapest ones that are kept, by the
  /// nearest of them. Removes longer ones.
  double radius_of_nearest(std::int32_t t, int lag, double cost, Row& row) const {
    row.sorted = row.price;
    const auto last = row.sorted.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(row.sorted.begin(), last - 1, row.sorted.end());
    const double farthest = *(last - 1);
    row.sorted.resize(most_);
    costs_.of(t, lag).costs(row.sorted);
    const double limit = std::min(cost, *std::max_element(row.sorted.begin(), row.sorted.end())) + kCostSlack;
    const double out = std::max(radius(t, lag, limit), farthest);
    std::size_t place = 0;
    for (std::size_t k = 0; k < row.near.count; ++k) {
      row.near.number[place] = row.near.number[k];
      row.near.squared[place] = row.near.squared[k];
      place += row.price[k] <= out;
    }
    row.near.count = place;
    return out;
  }

  /// Adds the link `kept`, if it is within reach and was not found.
  void add_kept(Index i, std::int32_t t, Index kept, Row& row) const {
    if (std::find(row.to.begin(), row.to.end(), kept) != row.to.end()) return;
    const int lag = points_.slot[at(kept)] - t;
    if (lag < 1 || lag > lags_) return;
    const Vec3 from = centre(i, lag), &to = points_.at[at(kept)];
    const double distance = length_of({to.x - from.x, to.y - from.y, to.z - from.z});
    if (!(distance < reach_[place(t, lag)]) || gated(i, kept, lag)) return;
    row.cost.push_back(costs_.of(t, lag).cost(distance));
    row.to.push_back(kept);
  }

  const SeriesPoints& points_;
  const Prediction& prediction_;
  const SeriesModel& model_;
  int lags_;
  const SeriesLinking* keep_;
  double nats_;
  std::size_t most_;
  const SeriesGrids& grids_;
  LagCosts costs_;
  std::vector<Radii> radii_;           ///< [lags]
  std::vector<double> reach_, least_;  ///< [frames][lags], [frames]
};

}  // namespace

SeriesGrids grids_of(const Execution& execution, const SeriesPoints& points) {
  SeriesGrids out(at(points.frames()));
  const double width = kGridPerSpacing * points.spacing_um;
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    out[at(t)] = RowGrid(points.frame(static_cast<std::int32_t>(t)), width);
  });
  return out;
}

SeriesCandidates find_candidates(const Execution& execution, const SeriesPoints& points,
                                 const Prediction& prediction, const SeriesModel& model, int lags,
                                 const SeriesLinking* keep, double nats, std::size_t most,
                                 const SeriesGrids* grids, std::int32_t frames_before) {
  const int threads = thread_count(execution);
  SeriesGrids own;
  if (grids == nullptr) own = grids_of(execution, points);
  const Finder finder(points, prediction, model, lags, keep, nats, most, grids != nullptr ? *grids : own,
                      frames_before);
  const auto n = static_cast<Index>(points.size());
  const std::int64_t blocks = (n + kRowsPerBlock - 1) / kRowsPerBlock;
  std::vector<std::vector<Index>> to(at(blocks));
  std::atomic<std::int64_t> found = 0;
  const std::int64_t most_in_memory = candidates_in_memory();
  SeriesCandidates out;
  out.row_offsets.assign(points.size() + 1, 0);
  const auto each_row = [&](std::int64_t block, const auto& act) {
    const Index begin = static_cast<Index>(block) * kRowsPerBlock;
    for (Index i = begin; i < std::min<Index>(n, begin + kRowsPerBlock); ++i) act(i);
  };
  parallel_for(threads, blocks, [&](std::int64_t block) {
    Row row;
    each_row(block, [&](Index i) {
      finder.find(i, row);
      to[at(block)].insert(to[at(block)].end(), row.to.begin(), row.to.end());
      out.row_offsets[at(i) + 1] = static_cast<Offset>(row.to.size());
    });
    if ((found += static_cast<std::int64_t>(to[at(block)].size())) > most_in_memory)
      throw ResourceError("linking.scope: series: over " + std::to_string(most_in_memory) +
                          " candidate links, more than memory holds; use linking.scope: pairs, or a smaller "
                          "linking.max_gap");
  });
  for (std::size_t i = 0; i < points.size(); ++i) out.row_offsets[i + 1] += out.row_offsets[i];
  out.to.resize(at(out.row_offsets.back()));
  out.from.resize(at(out.row_offsets.back()));
  parallel_for(threads, blocks, [&](std::int64_t block) {
    each_row(block, [&](Index i) {
      for (Offset e = out.row_offsets[at(i)]; e < out.row_offsets[at(i) + 1]; ++e) out.from[at(e)] = i;
    });
    std::copy(to[at(block)].begin(), to[at(block)].end(),
              out.to.begin() + static_cast<std::ptrdiff_t>(out.row_offsets[at(block) * at(kRowsPerBlock)]));
    std::vector<Index>().swap(to[at(block)]);
  });
  return out;
}

namespace {

/// Calls act(row) for all rows, in parallel.
template <class Act>
void for_each_row(const Execution& execution, const SeriesCandidates& candidates, const Act& act) {
  const auto rows = std::ssize(candidates.row_offsets) - 1;
  parallel_for(thread_count(execution), (rows + kRowsPerBlock - 1) / kRowsPerBlock, [&](std::int64_t block) {
    for (auto i = block * kRowsPerBlock; i < std::min<std::int64_t>(rows, (block + 1) * kRowsPerBlock); ++i)
      act(at(i));
  });
}

}  // namespace

std::vector<char> cheap_candidates(const Execution& execution, const SeriesCandidates& candidates,
                                   const std::vector<double>& costs, double nats) {
  std::vector<char> keep(costs.size());
  for_each_row(execution, candidates, [&](std::size_t i) {
    const auto begin = candidates.row_offsets[i], end = candidates.row_offsets[i + 1];
    if (begin == end) return;
    const double most = *std::min_element(costs.begin() + begin, costs.begin() + end) + nats;
    for (Offset e = begin; e < end; ++e) keep[at(e)] = costs[at(e)] <= most;
  });
  return keep;
}

SeriesCandidates some_candidates(const Execution& execution, const SeriesCandidates& candidates,
                                 const std::vector<char>& keep) {
  SeriesCandidates out;
  auto& offsets = out.row_offsets;
  offsets.assign(candidates.row_offsets.size(), 0);
  for_each_row(execution, candidates, [&](std::size_t i) {
    offsets[i + 1] =
        std::count_if(keep.begin() + candidates.row_offsets[i], keep.begin() + candidates.row_offsets[i + 1],
                      [](char k) { return k != 0; });
  });
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  out.to.resize(at(offsets.back()));
  out.from.resize(at(offsets.back()));
  for_each_row(execution, candidates, [&](std::size_t i) {
    Offset place = offsets[i];
    for (Offset e = candidates.row_offsets[i]; e < candidates.row_offsets[i + 1]; ++e)
      if (keep[at(e)] != 0)
        out.to[at(place)] = candidates.to[at(e)], out.from[at(place++)] = static_cast<Index>(i);
  });
  return out;
}

SeriesCandidates series_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags) {
  return find_candidates(execution, points, prediction, model, lags, nullptr, 0, 0, nullptr);
}

SeriesCandidates likely_candidates(const Execution& execution, const SeriesPoints& points,
                                   const Prediction& prediction, const SeriesModel& model, int lags,
                                   const SeriesLinking& keep, double nats, std::size_t most) {
  return find_candidates(execution, points, prediction, model, lags, &keep, nats, most, nullptr);
}

}  // namespace motes::tracking
