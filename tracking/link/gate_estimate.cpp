#include "tracking/link/gate_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nanoflann.hpp>
#include <vector>

#include "matching/parallel_for.h"

namespace motes::tracking {
namespace {

constexpr std::size_t kSampledPairs = 24;
constexpr std::size_t kSampledDetections = 4096;
constexpr double kGatePerDisplacement = 2.5;
constexpr double kTailQuantile = 0.95;
constexpr double kLeastGatePerSpacing = 0.1;
constexpr double kWideQuantile = 0.9;
constexpr double kMostGatePerWideSpacing = 0.92;

/// A frame as nanoflann wants to see it.
struct Cloud {
  const Detections& d;
  std::size_t kdtree_get_point_count() const { return d.size(); }
  double kdtree_get_pt(std::size_t k, std::size_t axis) const {
    return axis == 0 ? d.x_um[k] : axis == 1 ? d.y_um[k] : d.z_um[k];
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

class Neighbours {
 public:
  explicit Neighbours(const Detections& d) : cloud_{d}, tree_(3, cloud_, {10}) {}

  struct Hit {
    std::size_t index;
    double distance;
  };
  /// The `rank`-th nearest (0 or 1) to the detection `k` of `from`.
  Hit nearest(const Detections& from, std::size_t k, std::size_t rank = 0) const {
    const std::array<double, 3> query{from.x_um[k], from.y_um[k], from.z_um[k]};
    std::array<std::size_t, 2> index{};
    std::array<double, 2> squared{};
    tree_.knnSearch(query.data(), rank + 1, index.data(), squared.data());
    return {index[rank], std::sqrt(squared[rank])};
  }

 private:
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, 3, std::size_t>;
  Cloud cloud_;
  Tree tree_;
};

double quantile(std::vector<double>& values, double q) {
  const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

struct Sample {
  std::vector<double> displacements, spacings;
};

Sample sample_pair(const Detections& from, const Detections& to) {
  Sample out;
  const Neighbours in_from(from), in_to(to);
  const std::size_t stride = std::max<std::size_t>(1, from.size() / kSampledDetections);
  for (std::size_t k = 0; k < from.size(); k += stride) {
    const auto there = in_to.nearest(from, k);
    // By distance, not index: positions on a pixel grid repeat.
    if (in_from.nearest(to, there.index).distance >= there.distance)
      out.displacements.push_back(there.distance);
    if (from.size() > 1) out.spacings.push_back(in_from.nearest(from, k, 1).distance);
  }
  return out;
}

}  // namespace

std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames) {
  std::vector<std::size_t> pairs;
  for (std::size_t f = 0; f + 1 < frames.size(); ++f)
    if (!frames[f].empty() && !frames[f + 1].empty()) pairs.push_back(f);
  if (pairs.empty()) return std::nullopt;

  const std::size_t count = std::min(pairs.size(), kSampledPairs);
  std::vector<Sample> samples(count);
  matching::parallel_for(thread_count(execution), static_cast<std::int64_t>(count), [&](std::int64_t sample) {
    const auto k = static_cast<std::size_t>(sample);
    const std::size_t f = pairs[k * pairs.size() / count];
    samples[k] = sample_pair(frames[f], frames[f + 1]);
  });
  Sample all;
  for (const Sample& s : samples) {
    all.displacements.insert(all.displacements.end(), s.displacements.begin(), s.displacements.end());
    all.spacings.insert(all.spacings.end(), s.spacings.begin(), s.spacings.end());
  }

  if (all.displacements.empty()) return std::nullopt;
  GateEstimate out;
  out.displacement_um = quantile(all.displacements, 0.5);
  out.gate_um = kGatePerDisplacement * quantile(all.displacements, kTailQuantile);
  if (!all.spacings.empty()) {
    out.spacing_um = quantile(all.spacings, 0.5);
    const double most = kMostGatePerWideSpacing * quantile(all.spacings, kWideQuantile);
    if (most > 0) out.gate_um = std::min(out.gate_um, most);
    out.gate_um = std::max(out.gate_um, kLeastGatePerSpacing * out.spacing_um);
  }
  if (!(out.gate_um > 0)) return std::nullopt;
  return out;
}

}  // namespace motes::tracking
