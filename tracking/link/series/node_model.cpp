#include "tracking/link/series/node_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include <Eigen/Dense>

#include <motes/base/index.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>

namespace motes::tracking {
namespace {

using matching::Index;

constexpr std::uint16_t kRankBins = 20, kMostNeighbours = 9, kDifferenceBins = 24;
/// Borders of the bins of distances to neighbours, in exclusion radii.
constexpr std::array<double, 11> kCuts{.15, .25, .35, .45, .55, .65, .75, .85, 1.0, 1.15, 1.3};
constexpr std::uint16_t kDistanceBins = kCuts.size() + 1;
/// Least agreement of close pairs about the side of a property, and least number of pairs.
constexpr double kLeastAgreement = 0.05, kLeastPairs = 50;

constexpr double kRidge = 2, kMostLogOdds = 9, kSettled = 1e-4;
constexpr int kMostSteps = 12;

/// Tracks that label particles have at least this share of the median length, and at least kLeastLength
/// detections unless the series is short.
constexpr double kPartOfMedian = 0.25;
constexpr std::size_t kLeastLength = 3;
constexpr std::int32_t kShortSeries = 12;

std::uint16_t distance_bin(double distance) {
  return static_cast<std::uint16_t>(std::upper_bound(kCuts.begin(), kCuts.end(), distance) - kCuts.begin());
}

/// [points] length of the track of each detection.
std::vector<std::size_t> track_lengths(const SeriesLinking& linking) {
  std::vector<std::size_t> out(linking.next.size(), 0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (linking.previous[i] >= 0) continue;
    std::size_t length = 0;
    for (auto j = static_cast<Index>(i); j >= 0; j = linking.next[at(j)]) ++length;
    for (auto j = static_cast<Index>(i); j >= 0; j = linking.next[at(j)]) out[at(j)] = length;
  }
  return out;
}

/// A property as ranks, with the side of particles up.
std::vector<double> sure_ranks(const SeriesPoints& points, const std::vector<double>& values, double side) {
  std::vector<double> ranks = frame_ranks(points, values);
  if (side < 0)
    for (double& rank : ranks) rank = 1 - rank;
  return ranks;
}

/// Writes the bins of one detection in order.
class Bins {
 public:
  explicit Bins(std::uint16_t* place) : place_(place) {}
  void add(std::size_t bin) { *place_++ = static_cast<std::uint16_t>(bin); }

 private:
  std::uint16_t* place_;
};

void add_neighbourhood(const SeriesPoints& points, const CloseNeighbours& close, std::size_t i, Bins& bins) {
  double nearest = std::numeric_limits<double>::infinity();
  std::size_t count = 0;
  Vec3 sum{};
  for (auto e = at(close.offsets[i]); e < at(close.offsets[i + 1]); ++e) {
    nearest = std::min(nearest, close.distance[e]);
    if (close.distance[e] >= 1) continue;
    const Vec3 &p = points.at[at(close.index[e])], &q = points.at[i];
    sum = {sum.x + (p.x - q.x), sum.y + (p.y - q.y), sum.z + (p.z - q.z)};
    ++count;
  }
  const double off = std::sqrt((sum.x * sum.x + sum.y * sum.y) + sum.z * sum.z);
  bins.add(std::min<std::size_t>(count, kMostNeighbours));
  bins.add(count == 0 ? kDistanceBins
                      : distance_bin(off / static_cast<double>(count) / close.radius[at(points.slot[i])]));
  bins.add(distance_bin(nearest));
}

std::size_t rank_bin(double rank) {
  return std::isnan(rank) ? kRankBins
                          : std::min<std::size_t>(kRankBins - 1, static_cast<std::size_t>(rank * kRankBins));
}

void add_beside_neighbours(const CloseNeighbours& close, const std::vector<double>& ranks, std::size_t i,
                           Bins& bins) {
  double larger = std::numeric_limits<double>::infinity(), equal = larger, largest = -1;
  std::size_t smaller = 0;
  for (auto e = at(close.offsets[i]); e < at(close.offsets[i + 1]); ++e) {
    const double other = ranks[at(close.index[e])], distance = close.distance[e];
    if (other > ranks[i]) larger = std::min(larger, distance);
    if (other == ranks[i]) equal = std::min(equal, distance);
    if (distance >= 1) continue;
    smaller += other < ranks[i];
    if (!std::isnan(other)) largest = std::max(largest, other);
  }
  bins.add(distance_bin(larger));
  bins.add(distance_bin(equal));
  bins.add(std::min<std::size_t>(smaller, kMostNeighbours));
  const double difference = (ranks[i] - largest + 1) / 2;
  bins.add(largest < 0 || std::isnan(difference)
               ? kDifferenceBins
               : std::min<std::size_t>(kDifferenceBins - 1,
                                       static_cast<std::size_t>(difference * kDifferenceBins)));
}

/// Sums over detections for a step of Newton's method, in the same order for any thread count.
struct Sums {
  Eigen::MatrixXd curvature;
  Eigen::VectorXd slope;
};

Sums sums_of(const NodeFeatures& features, const std::vector<std::size_t>& first, std::span<const char> real,
             const std::vector<double>& log_odds, std::size_t size) {
  Sums out{Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(size), static_cast<Eigen::Index>(size)),
           Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size))};
  const std::size_t count = features.count();
  std::vector<Eigen::Index> place(count + 1);
  place[count] = static_cast<Eigen::Index>(size) - 1;
  for (std::size_t i = 0; i < real.size(); ++i) {
    for (std::size_t k = 0; k < count; ++k)
      place[k] = static_cast<Eigen::Index>(first[k] + features.bin[i * count + k]);
    const double p = 1 / (1 + std::exp(-log_odds[i])), weight = p * (1 - p) + 1e-6;
    const double error = (real[i] != 0 ? 1.0 : 0.0) - p;
    for (std::size_t a = 0; a <= count; ++a) {
      out.slope[place[a]] += error;
      for (std::size_t b = a; b <= count; ++b) out.curvature(place[b], place[a]) += weight;
    }
  }
  return out;
}

}  // namespace

std::vector<double> frame_ranks(const SeriesPoints& points, const std::vector<double>& values) {
  std::vector<double> ranks(points.size(), std::numeric_limits<double>::quiet_NaN());
  std::vector<Index> order;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    order.clear();
    for (Index i = points.offset[at(t)]; i < points.offset[at(t) + 1]; ++i)
      if (!std::isnan(values[at(i)])) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return values[at(a)] < values[at(b)]; });
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && values[at(order[end])] == values[at(order[begin])]) ++end;
      const double rank = static_cast<double>(begin + end) / 2 / static_cast<double>(order.size());
      for (std::size_t k = begin; k < end; ++k) ranks[at(order[k])] = rank;
    }
  }
  return ranks;
}

std::vector<char> on_long_tracks(const SeriesPoints& points, const SeriesLinking& linking,
                                 std::span<const char> kept) {
  const std::vector<std::size_t> length = track_lengths(linking);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < kept.size(); ++i)
    if (kept[i] != 0) lengths.push_back(static_cast<double>(length[i]));
  std::size_t least = 2;
  if (points.frames() > kShortSeries && !lengths.empty())
    least = std::max(kLeastLength, static_cast<std::size_t>(kPartOfMedian * quantile(lengths, 0.5)));
  std::vector<char> out(kept.size(), 0);
  for (std::size_t i = 0; i < kept.size(); ++i) out[i] = kept[i] != 0 && length[i] >= least;
  return out;
}

Agreement agreement_with(const SeriesPoints& points, const CloseNeighbours& close,
                         const std::vector<double>& central, const std::vector<double>& values) {
  double agree = 0, all = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (auto e = at(close.offsets[i]); e < at(close.offsets[i + 1]); ++e) {
      const auto j = at(close.index[e]);
      if (close.distance[e] >= 1 || !(values[i] > values[j]) || central[i] == central[j]) continue;
      all += 1;
      agree += central[i] > central[j];
    }
  if (all < kLeastPairs) return {};
  const double share = agree / all - 0.5;
  if (std::abs(share) < kLeastAgreement) return {};
  return {share > 0 ? 1.0 : -1.0, std::abs(share)};
}

NodeFeatures node_features(const Execution& execution, const SeriesPoints& points,
                           const CloseNeighbours& close, const std::vector<double>& side) {
  const std::vector<std::int32_t> block = frame_blocks(points);
  const bool neighbours =
      std::any_of(close.radius.begin(), close.radius.end(), [](double r) { return r > 0; });
  NodeFeatures out;
  out.width.push_back(static_cast<std::uint16_t>(block.back() + 1));
  if (neighbours) out.width.insert(out.width.end(), {kMostNeighbours + 1, kDistanceBins + 1, kDistanceBins});
  std::vector<std::vector<double>> ranks;
  for (std::size_t k = 0; k < points.properties.size(); ++k) {
    ranks.push_back(sure_ranks(points, points.properties[k].values, side[k]));
    out.width.push_back(kRankBins + 1);
    if (neighbours)
      out.width.insert(out.width.end(),
                       {kDistanceBins, kDistanceBins, kMostNeighbours + 1, kDifferenceBins + 1});
  }
  out.bin.resize(points.size() * out.count());
  parallel_for(thread_count(execution), points.frames(), [&](std::int64_t t) {
    for (Index point = points.offset[at(t)]; point < points.offset[at(t) + 1]; ++point) {
      const auto i = at(point);
      Bins bins(out.bin.data() + i * out.count());
      bins.add(at(block[at(t)]));
      if (neighbours) add_neighbourhood(points, close, i, bins);
      for (const std::vector<double>& rank : ranks) {
        bins.add(rank_bin(rank[i]));
        if (neighbours) add_beside_neighbours(close, rank, i, bins);
      }
    }
  });
  return out;
}

std::vector<double> fit_log_odds(const NodeFeatures& features, std::span<const char> real) {
  const std::size_t count = features.count();
  std::vector<std::size_t> first(count + 1, 0);
  for (std::size_t k = 0; k < count; ++k) first[k + 1] = first[k] + features.width[k];
  const std::size_t size = first[count] + 1;  // the constant is last
  double share = 0;
  for (const char is_real : real) share += is_real != 0;
  share = (share + 0.5) / (static_cast<double>(real.size()) + 1);
  Eigen::VectorXd weight = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(size));
  weight[static_cast<Eigen::Index>(size) - 1] = std::log(share / (1 - share));
  std::vector<double> log_odds(real.size());
  const auto evaluate = [&] {
    for (std::size_t i = 0; i < real.size(); ++i) {
      double sum = weight[static_cast<Eigen::Index>(size) - 1];
      for (std::size_t k = 0; k < count; ++k)
        sum += weight[static_cast<Eigen::Index>(first[k] + features.bin[i * count + k])];
      log_odds[i] = std::clamp(sum, -30.0, 30.0);
    }
  };
  evaluate();
  for (int step = 0; step < kMostSteps; ++step) {
    Sums sums = sums_of(features, first, real, log_odds, size);
    for (Eigen::Index k = 0; k + 1 < static_cast<Eigen::Index>(size); ++k) {
      sums.curvature(k, k) += kRidge;
      sums.slope[k] -= kRidge * weight[k];
    }
    const Eigen::VectorXd change = sums.curvature.selfadjointView<Eigen::Lower>().ldlt().solve(sums.slope);
    weight += change;
    evaluate();
    if (change.cwiseAbs().maxCoeff() < kSettled) break;
  }
  for (double& value : log_odds) value = std::clamp(value, -kMostLogOdds, kMostLogOdds);
  return log_odds;
}

}  // namespace motes::tracking
