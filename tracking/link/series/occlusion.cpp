#include "tracking/link/series/occlusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

namespace motes::tracking {
namespace {

using matching::Index;

/// Trial radii: the largest is kMostRadius spacings, and each is kRadiusRatio times the one before. Particles
/// farther away hide nothing.
constexpr int kRadii = 7;
constexpr double kMostRadius = 0.35, kRadiusRatio = 0.70710678;
/// Least number of gaps, and least gain in nats. The choice among radii can give less gain by chance.
constexpr std::size_t kFewestGaps = 20;
constexpr double kLeastNats = 6;
/// Chance is estimated in about this many other frames.
constexpr std::int32_t kOtherTimes = 8;
/// At both ends of a gap, the other particle must be detected within this many radii.
constexpr double kCompany = 3;
/// Least ratio of hidden gaps to those by chance.
constexpr double kLeastRatio = 1.5;
/// Most gaps that are examined.
constexpr std::size_t kMostGaps = 4000;
/// Gaps that a thread examines at a time.
constexpr std::size_t kBlock = 64;
/// Shares are kept this far from 0 and 1.
constexpr double kLeastShare = 0.02;

}  // namespace

Occlusion::Occlusion(const SeriesPoints& points, const SeriesGrids& grids, const SeriesLinking& linking)
    : points_(&points), grids_(&grids), track_(points.size()), hides_(points.size()) {
  const auto over_one_frame = [&](Index i, Index j) { return points.slot[at(j)] == points.slot[at(i)] + 1; };
  for (std::size_t k = 0; k < track_.size(); ++k) {
    const auto i = static_cast<Index>(k);
    const Index before = linking.previous[k], after = linking.next[k];
    track_[k] = before < 0 ? i : track_[at(before)];
    // If two tracks take turns at the detections of one particle, neither hides the other.
    hides_[k] = (before >= 0 || after >= 0) && (before < 0 || over_one_frame(before, i)) &&
                (after < 0 || over_one_frame(i, after));
  }
}

Vec3 Occlusion::between(const Prediction& prediction, Index i, Index j, std::int32_t slot) const {
  const int lag = points_->slot[at(j)] - points_->slot[at(i)], elapsed = slot - points_->slot[at(i)];
  return points_->at[at(i)] + prediction.of(elapsed, i) +
         (static_cast<double>(elapsed) / lag) * residual(*points_, prediction, i, j);
}

double Occlusion::nearest(const Vec3& place, std::int32_t slot, double most, Index own_track) const {
  double least = HUGE_VAL;
  const Index first = points_->offset[at(slot)];
  (*grids_)[at(slot)].for_each_within(place, most, [&](std::size_t number, double squared) {
    const auto other = at(first) + number;
    if (squared < least && hides_[other] != 0 && track_[other] != own_track) least = squared;
  });
  return least;
}

bool Occlusion::has_company(Index i) const {
  const std::int32_t slot = points_->slot[at(i)];
  bool found = false;
  (*grids_)[at(slot)].for_each_within(points_->at[at(i)], kCompany * radius_,
                                      [&](std::size_t number, double) {
                                        found |= points_->offset[at(slot)] + static_cast<Index>(number) != i;
                                      });
  return found;
}

double Occlusion::gain(const Prediction& prediction, Index i, Index j) const {
  // If both are on one track, detections of that track between them are the particle itself.
  const Index own = track_[at(i)] == track_[at(j)] ? track_[at(i)] : -1;
  const std::int32_t before = points_->slot[at(i)], after = points_->slot[at(j)];
  if (after == before + 1) return 0;
  int hidden = 0;
  for (std::int32_t slot = before + 1; slot < after; ++slot)
    hidden += nearest(between(prediction, i, j, slot), slot, radius_, own) < HUGE_VAL;
  const bool is_hidden = 2 * hidden >= after - before - 1 && has_company(i) && has_company(j);
  return is_hidden ? hidden_nats_ : sight_nats_;
}

struct Occlusion::Counts {
  std::array<double, kRadii> radius{};
  std::array<std::size_t, kRadii> hidden{},
      by_chance{};  ///< number of hidden gaps, and of hidden places at other times
  std::size_t gaps = 0, places = 0;
};

void Occlusion::count(const Prediction& prediction, Index i, Index j, Counts& counts) const {
  const auto count_near = [&](const Vec3& place, std::int32_t slot, auto& near) {
    const double squared = nearest(place, slot, counts.radius[0], track_[at(i)]);
    for (std::size_t k = 0; k < near.size(); ++k) near[k] += squared <= counts.radius[k] * counts.radius[k];
  };
  const std::int32_t frames = points_->frames(), stride = std::max(1, frames / kOtherTimes),
                     before = points_->slot[at(i)], after = points_->slot[at(j)];
  std::array<int, kRadii> near{};
  for (std::int32_t slot = before + 1; slot < after; ++slot) {
    const Vec3 place = between(prediction, i, j, slot);
    count_near(place, slot, near);
    for (std::int32_t other = slot % stride; other < frames; other += stride)
      if (other < before || other > after) count_near(place, other, counts.by_chance), ++counts.places;
  }
  ++counts.gaps;
  for (std::size_t r = 0; r < near.size(); ++r) counts.hidden[r] += 2 * near[r] >= after - before - 1;
}

Occlusion::Counts Occlusion::count(int threads, const Prediction& prediction,
                                   const SeriesLinking& linking) const {
  Counts none;
  for (int k = 0; k < kRadii; ++k)
    none.radius[at(k)] = kMostRadius * points_->spacing_um * std::pow(kRadiusRatio, k);
  std::vector<Index> gaps;
  for (std::size_t i = 0; i < points_->size(); ++i)
    if (const Index j = linking.next[i]; j >= 0 && points_->slot[at(j)] > points_->slot[i] + 1)
      gaps.push_back(static_cast<Index>(i));
  const std::size_t step = 1 + gaps.size() / kMostGaps, counted = (gaps.size() + step - 1) / step;
  std::vector<Counts> of_block((counted + kBlock - 1) / kBlock, none);
  parallel_for(threads, std::ssize(of_block), [&](std::int64_t b) {
    for (std::size_t k = at(b) * kBlock; k < std::min(counted, (at(b) + 1) * kBlock); ++k)
      count(prediction, gaps[k * step], linking.next[at(gaps[k * step])], of_block[at(b)]);
  });
  Counts out = none;
  for (const Counts& some : of_block) {
    out.gaps += some.gaps, out.places += some.places;
    for (std::size_t r = 0; r < out.hidden.size(); ++r)
      out.hidden[r] += some.hidden[r], out.by_chance[r] += some.by_chance[r];
  }
  return out;
}

std::shared_ptr<const Occlusion> Occlusion::fit(const Execution& execution, const SeriesPoints& points,
                                                const SeriesGrids& grids, const Prediction& prediction,
                                                const SeriesLinking& linking) {
  Occlusion out(points, grids, linking);
  const Counts counts = out.count(thread_count(execution), prediction, linking);
  if (counts.gaps < kFewestGaps || counts.places == 0) return nullptr;
  const auto gaps = static_cast<double>(counts.gaps), places = static_cast<double>(counts.places);
  double most = kLeastNats;
  for (std::size_t k = 0; k < counts.radius.size(); ++k) {
    const auto hidden = static_cast<double>(counts.hidden[k]);
    const double share = std::clamp(hidden / gaps, kLeastShare, 1 - kLeastShare);
    const double chance =
        std::clamp(static_cast<double>(counts.by_chance[k]) / places, kLeastShare, 1 - kLeastShare);
    if (share <= kLeastRatio * chance) continue;
    const double in_hiding = std::log(share / chance), in_sight = std::log((1 - share) / (1 - chance));
    const double nats = hidden * in_hiding + (gaps - hidden) * in_sight;
    if (nats <= most) continue;
    most = nats;
    out.radius_ = counts.radius[k], out.share_ = share;
    out.hidden_nats_ = in_hiding, out.sight_nats_ = in_sight;
  }
  return out.radius_ > 0 ? std::make_shared<const Occlusion>(std::move(out)) : nullptr;
}

}  // namespace motes::tracking
