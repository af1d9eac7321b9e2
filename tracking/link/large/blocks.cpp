#include "tracking/link/large/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include <motes/base/index.h>
#include <motes/base/nested_levels.h>
#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/base/stop.h>
#include <motes/base/system/memory.h>

#include "tracking/link/point_order.h"

namespace motes::tracking {
namespace {

using matching::Index;

constexpr std::array<double Vec3::*, 3> kAxes{&Vec3::x, &Vec3::y, &Vec3::z};
/// A range is not halved if a margin would be more than this share of it.
constexpr double kMostMargin = 0.25;
/// Margins in space: kMarginSteps spacings, or as many steps if these are longer (a step: the quantile
/// kFewLonger of links). Margins in time: kMarginGaps times the longest gap.
constexpr double kMarginSteps = 4, kFewLonger = 0.99;
constexpr std::int32_t kMarginGaps = 2;
/// Bytes of memory for each detection of a core, including margins.
constexpr std::int64_t kBytesOfBlock = 2000;
constexpr int kThreadsOfBlock = 2;

/// Halves ranges, and divides their detections.
class Splitter {
 public:
  Splitter(const SeriesPoints& points, std::int64_t most, const BlockMargin& margin)
      : points_(points), most_(most), margin_(margin) {}

  std::vector<BlockRange> run() {
    std::vector<Index> all(points_.size());
    std::iota(all.begin(), all.end(), Index{0});
    split({.first = 0, .last = points_.frames()}, all);
    return std::move(out_);
  }

 private:
  /// Ratio of margin to extent of a range for each axis, time last; infinite if it cannot be halved.
  std::array<double, 4> shares(const BlockRange& range, std::span<const Index> inside) const {
    std::array<double, 4> out;
    out.fill(BlockRange::kFar);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double low = BlockRange::kFar, high = -low;
      for (const Index i : inside) {
        const double x = points_.at[at(i)].*kAxes[axis];
        low = std::min(low, x), high = std::max(high, x);
      }
      if (high > low) out[axis] = margin_.um / (high - low);
    }
    if (const std::int32_t frames = range.last - range.first; frames > 1)
      out[3] = static_cast<double>(margin_.frames) / frames;
    return out;
  }

  void split(const BlockRange& range, std::span<Index> inside) {
    const std::array<double, 4> share = shares(range, inside);
    const auto least = std::min_element(share.begin(), share.end());
    if (std::ssize(inside) <= most_ || *least > kMostMargin) return out_.push_back(range);
    const auto axis = static_cast<std::size_t>(least - share.begin());
    BlockRange low = range, high = range;
    const auto middle = inside.begin() + static_cast<std::ptrdiff_t>(inside.size() / 2);
    std::span<Index>::iterator cut;
    if (axis < 3) {
      const auto place = [&](Index i) { return points_.at[at(i)].*kAxes[axis]; };
      std::nth_element(inside.begin(), middle, inside.end(),
                       [&](Index a, Index b) { return place(a) < place(b); });
      const double value = place(*middle);
      cut = std::partition(inside.begin(), inside.end(), [&](Index i) { return place(i) < value; });
      low.high.*kAxes[axis] = high.low.*kAxes[axis] = value;
    } else {
      std::nth_element(inside.begin(), middle, inside.end());  // indices are in order of time
      const std::int32_t frame = std::max(range.first + 1, points_.slot[at(*middle)]);
      cut =
          std::partition(inside.begin(), inside.end(), [&](Index i) { return points_.slot[at(i)] < frame; });
      low.last = high.first = frame;
    }
    if (cut == inside.begin() || cut == inside.end()) return out_.push_back(range);
    split(low, {inside.begin(), cut});
    split(high, {cut, inside.end()});
  }

  const SeriesPoints& points_;
  std::int64_t most_;
  BlockMargin margin_;
  std::vector<BlockRange> out_;
};

}  // namespace

std::vector<BlockRange> block_ranges(const SeriesPoints& points, std::int64_t most,
                                     const BlockMargin& margin) {
  return Splitter(points, most, margin).run();
}

SeriesBlock take_block(const SeriesPoints& points, const BlockRange& range, const BlockMargin& margin) {
  BlockRange seen = range;
  for (double Vec3::*const axis : kAxes) seen.low.*axis -= margin.um, seen.high.*axis += margin.um;
  seen.first = std::max(0, range.first - margin.frames);
  seen.last = std::min(points.frames(), range.last + margin.frames);
  SeriesBlock out;
  out.first_frame = seen.first;
  for (Index i = points.offset[at(seen.first)]; i < points.offset[at(seen.last)]; ++i)
    if (seen.contains(points.at[at(i)], points.slot[at(i)])) {
      out.whole.push_back(i);
      out.core.push_back(range.contains(points.at[at(i)], points.slot[at(i)]));
    }
  out.points = detail::select_points(points, out.whole);  // including the log-odds of being particles
  SeriesPoints& p = out.points;
  p.properties.clear();
  p.partners = points.partners;
  for (std::int32_t& slot : p.slot) slot -= seen.first;
  p.offset = {p.offset.begin() + seen.first, p.offset.begin() + seen.last + 1};
  p.density = {points.density.begin() + seen.first, points.density.begin() + seen.last};
  // Tracks cross the sides of the core; they begin and end only at the limits of the series.
  p.inner = out.core;
  return out;
}

BlockLinks::BlockLinks(std::size_t points) : next_(points, -1), previous_(points, -1) {}

void BlockLinks::add(const SeriesBlock& block, const SeriesLinking& linking) {
  for (std::size_t k = 0; k < block.whole.size(); ++k) {
    if (block.core[k] == 0) continue;
    const Index next = linking.next[k], previous = linking.previous[k];
    if (next >= 0) next_[at(block.whole[k])] = block.whole[at(next)];
    if (previous >= 0) previous_[at(block.whole[k])] = block.whole[at(previous)];
  }
}

SeriesLinking BlockLinks::linking(std::int64_t& conflicting) const {
  SeriesLinking out = SeriesLinking::none(next_.size());
  conflicting = 0;
  const auto link = [&](Index i, Index j) {
    out.next[at(i)] = j;
    out.previous[at(j)] = i;
  };
  for (std::size_t i = 0; i < next_.size(); ++i)
    if (const Index j = next_[i]; j >= 0 && at(previous_[at(j)]) == i) link(static_cast<Index>(i), j);
  // Links of the block of the later detection, if the earlier one is free; the earliest is added first.
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const Index j = next_[i];
    if (j < 0 || out.next[i] >= 0) continue;
    ++conflicting;
    if (out.previous[at(j)] < 0) link(static_cast<Index>(i), j);
  }
  return out;
}

BlockMargin block_margin(const SeriesPoints& points, const SeriesLinking& linking, int lags) {
  std::vector<double> lengths;
  for (std::size_t i = 0; i < linking.next.size(); ++i)
    if (const Index j = linking.next[i]; j >= 0 && points.slot[at(j)] == points.slot[i] + 1)
      lengths.push_back(length_of(points.at[at(j)] - points.at[i]));
  const double step = lengths.empty() ? 0 : quantile(lengths, kFewLonger);
  return {kMarginSteps * std::max(step, points.spacing_um), kMarginGaps * lags};
}

std::vector<std::int64_t> core_of_frames(const SeriesBlock& block) {
  std::vector<std::int64_t> out(at(block.points.frames()), 0);
  for (std::size_t k = 0; k < block.core.size(); ++k) out[at(block.points.slot[k])] += block.core[k];
  return out;
}

SeriesSolution sum_of_blocks(std::span<const BlockSummary> blocks) {
  SeriesSolution out = blocks.front().solution;
  for (const BlockSummary& block : blocks.subspan(1)) {
    out.edges += block.solution.edges;
    out.objective += block.solution.objective;
    out.verified = out.verified && block.solution.verified;
  }
  out.false_detections = 0;
  return out;
}

SeriesModel mean_model(std::span<const BlockSummary> blocks, std::int32_t frames) {
  SeriesModel out = model_of_frames(blocks.front().model, 0, frames);
  std::vector<double> scale(at(frames), 0), weight(at(frames), 0), elapsed(out.elapsed.size(), 0);
  double all = 0, end = 0, birth = 0, clutter = 0;
  for (const BlockSummary& block : blocks) {
    const SeriesModel& m = block.model;
    double own = 0;
    for (std::size_t t = 0; t < block.core.size(); ++t) {
      const auto n = static_cast<double>(block.core[t]);
      own += n;
      scale[t + at(block.first_frame)] += n * m.scale[t], weight[t + at(block.first_frame)] += n;
    }
    all += own, end += own * m.end, birth += own * m.birth, clutter += own * m.clutter;
    for (std::size_t k = 0; k < elapsed.size(); ++k) elapsed[k] += own * m.elapsed[k];
  }
  for (std::size_t t = 0; t < scale.size(); ++t)
    if (weight[t] > 0) out.scale[t] = scale[t] / weight[t];
  out.end = end / all, out.birth = birth / all, out.clutter = clutter / all;
  for (std::size_t k = 0; k < elapsed.size(); ++k) out.elapsed[k] = elapsed[k] / all;
  return out;
}

void for_blocks(const Execution& execution, std::size_t blocks, std::int64_t most,
                const std::function<void(const Execution&, std::size_t)>& link) {
  const int threads = thread_count(execution);
  const std::int64_t room = system::physical_memory() / 2 / (most * kBytesOfBlock);
  const auto outer = static_cast<int>(std::clamp<std::int64_t>(
      std::min<std::int64_t>(threads / kThreadsOfBlock, room), 1, static_cast<std::int64_t>(blocks)));
  Execution inner = execution;
  inner.threads = std::max(1, threads / outer);
  if (outer > 1) inner.workspace = nullptr;  // a workspace belongs to one thread
  const NestedLevels nested(inner.threads > 1 ? 2 : 1);
  const Stop stop = Stop::of_this_thread();
  parallel_for(outer, static_cast<std::int64_t>(blocks), [&](std::int64_t k) {
    const Stop::Use same(stop);
    link(inner, at(k));
  });
}

SeriesModel model_of_frames(SeriesModel model, std::int32_t first, std::int32_t frames) {
  const auto have = static_cast<std::int32_t>(model.scale.size());
  const double middle = model.scale.empty() ? 1 : quantile(model.scale, 0.5);
  std::vector<double> scale(at(frames), middle);
  for (std::int32_t t = std::max(0, first); t < std::min(have, first + frames); ++t)
    scale[at(t - first)] = model.scale[at(t)];
  model.scale = std::move(scale);
  return model;
}

}  // namespace motes::tracking
