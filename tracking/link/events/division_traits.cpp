#include "tracking/link/events/division_traits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <motes/base/index.h>

namespace motes::tracking::detail {
namespace {

using matching::Index;

/// Shares of classes are shrunk towards those of both groups together, as if this many more were known of
/// each.
constexpr double kPrior = 10;
/// Number of detections from which a track's odds are taken, and number of their classes.
constexpr int kFirstDetections = 5;
constexpr std::size_t kOddsClasses = 8;

/// Ages in one direction of time, in which `before` are the detections before; `backwards`: from the last
/// frame.
std::vector<std::int32_t> ages_along(const CellTracks& tracks, std::span<const Index> before, bool backwards,
                                     const std::vector<Index>& born) {
  const auto n = static_cast<Index>(before.size());
  const auto time = [&](Index i) {
    return backwards ? tracks.frames - 1 - tracks.slot[at(i)] : tracks.slot[at(i)];
  };
  std::vector<char> is_born(before.size(), 0);
  for (const Index i : born) is_born[at(i)] = 1;
  std::vector<std::int32_t> age(before.size(), 0);
  for (Index k = 0; k < n; ++k) {
    const Index i = backwards ? n - 1 - k : k, p = before[at(i)];
    if (is_born[at(i)] != 0 || (p < 0 && time(i) > 0))
      age[at(i)] = 1;
    else if (p >= 0 && age[at(p)] > 0)
      age[at(i)] = age[at(p)] + time(i) - time(p);
  }
  return age;
}

}  // namespace

std::vector<std::int32_t> cell_ages(const CellTracks& tracks, const CellBreaks& breaks) {
  return ages_along(tracks, tracks.before, tracks.backwards, breaks.daughters);
}

std::vector<std::int32_t> cell_lives(const CellTracks& tracks, const CellBreaks& breaks) {
  return ages_along(tracks, tracks.after, !tracks.backwards, breaks.mothers);
}

std::int32_t duration_class(std::int32_t frames) {
  return frames > 0 ? 1 + static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(frames - 1)))
                    : 0;
}

std::vector<std::int32_t> odds_classes(const CellTracks& tracks, std::span<const Index> starts,
                                       std::span<const double> log_odds) {
  if (log_odds.empty()) return {};
  std::vector<std::pair<double, Index>> mean;
  for (const Index start : starts) {
    double sum = 0;
    int count = 0;
    for (Index i = start; i >= 0 && count < kFirstDetections; i = tracks.after[at(i)])
      sum += log_odds[at(i)], ++count;
    mean.emplace_back(sum / count, start);
  }
  std::sort(mean.begin(), mean.end());
  std::vector<std::int32_t> out(tracks.after.size(), 0);
  for (std::size_t k = 0; k < mean.size(); ++k)
    out[at(mean[k].second)] = 1 + static_cast<std::int32_t>(kOddsClasses * k / mean.size());
  return out;
}

std::vector<double> class_evidence(const std::vector<double>& some, const std::vector<double>& others) {
  const auto known = [](const std::vector<double>& counts) {
    return std::accumulate(counts.begin() + 1, counts.end(), 0.0);
  };
  std::vector<double> out(kTraitClasses, 0);
  const double n = known(some), m = known(others);
  for (std::size_t k = 1; k < kTraitClasses; ++k) {
    const double prior = n + m > 0 ? kPrior * (some[k] + others[k]) / (n + m) : 0;
    if (prior > 0) out[k] = std::log((some[k] + prior) / (n + kPrior) * (m + kPrior) / (others[k] + prior));
  }
  return out;
}

}  // namespace motes::tracking::detail
