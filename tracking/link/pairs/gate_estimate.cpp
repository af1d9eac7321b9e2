#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include <motes/base/parallel_for.h>
#include <motes/base/quantile.h>
#include <motes/matching/bottleneck.h>
#include <motes/tracking/gate_estimate.h>

#include "tracking/link/pairs/gate_sample.h"

namespace motes::tracking {
namespace {

/// For the rule cardinality. The margin covers the tail of the motion that a sample of thousands does not
/// contain.
constexpr double kMargin = 1.25;
constexpr double kSafePerSpacing = 0.7;
/// Pair counts that give a lower share of partners are not used: then detections cluster, or move so far that
/// chance pairs hide theirs.
constexpr double kLeastPartners = 0.6;
/// All are assumed to have a partner if counts are within this many standard deviations of that.
constexpr double kPossibly = 2;
/// The gate is at most this many times that by neighbours; if particles move little, at most that by
/// neighbours or nearly the spacing, since detections without anything closer have no partner.
constexpr double kMostPerNeighbours = 1.6, kSmallRatio = 1.0 / 3, kMostSafePerSpacing = 0.95;
/// If particles move less than kTinyRatio of the spacing, this gate is safe whether or not all have partners.
constexpr double kTinyRatio = 0.075;

/// For the rule neighbours.
constexpr double kGatePerDisplacement = 2.5;
constexpr double kTailQuantile = 0.95;
constexpr double kWideQuantile = 0.9;
constexpr double kMostGatePerWideSpacing = 0.92;

constexpr double kLeastGatePerSpacing = 0.1;
constexpr int kCurvePoints = 24;

/// Lengths at which pairs are counted: from a sixteenth of the spacing to the reach of the samples.
std::vector<double> counted_lengths(double spacing_um) {
  std::vector<double> lengths;
  if (spacing_um > 0)
    for (double g = spacing_um / 16; g <= kReachPerSpacing * spacing_um * 1.001; g *= 1.1)
      lengths.push_back(g);
  return lengths;
}

/// The measurements of one sample.
struct Measured {
  double rows = 0, reach_um = 0, density_ratio = 1;
  std::vector<double> thresholds;  ///< in um, ascending: least gates that allow 1, 2, ... links
  /// [counted lengths] number of pairs of rows and detections of the next frame.
  std::vector<double> with_next;
  std::vector<double> within;  ///< [counted lengths] number of pairs of rows and others of their own frame
};

/// For each length, the number of pairs that are not longer.
std::vector<double> counts_of(const SampledPairs& pairs, const std::vector<double>& lengths_um) {
  std::vector<matching::Cost> limits;
  for (const double length : lengths_um) limits.push_back(std::llround(length * length / pairs.unit_um2));
  std::vector<double> counts(lengths_um.size() + 1, 0);
  for (const matching::Cost squared : pairs.costs.cost)
    ++counts[static_cast<std::size_t>(std::lower_bound(limits.begin(), limits.end(), squared) -
                                      limits.begin())];
  std::partial_sum(counts.begin(), counts.end(), counts.begin());
  counts.pop_back();
  return counts;
}

double count_below(const std::vector<double>& sorted, double length) {
  return static_cast<double>(std::upper_bound(sorted.begin(), sorted.end(), length) - sorted.begin());
}

Measured measure(const GateSample& sample, const std::vector<double>& lengths_um) {
  Measured out;
  out.rows = static_cast<double>(sample.rows);
  out.reach_um = sample.reach_um;
  out.density_ratio = sample.density_ratio;
  for (const matching::Cost squared : matching::bottleneck_curve(sample.with_next.costs.view()).threshold)
    out.thresholds.push_back(std::sqrt(static_cast<double>(squared) * sample.with_next.unit_um2));
  out.with_next = counts_of(sample.with_next, lengths_um);
  out.within = counts_of(sample.within, lengths_um);
  return out;
}

/// The share of rows with a partner. The number of pairs of successive frames closer than g, minus that of
/// chance (the pairs within a frame, scaled to the other's density), is the number of particles that moved
/// less than g. For growing g it approaches the number of particles in both frames. The result is the highest
/// significant share; 1 if noise may hide the other partners.
double partners_of(const std::vector<Measured>& samples, const std::vector<double>& lengths_um) {
  double most = 0, possible = 0;
  for (std::size_t k = 0; k < lengths_um.size(); ++k) {
    double rows = 0, excess = 0, variance = 0;
    for (const Measured& m : samples) {
      if (m.reach_um < lengths_um[k]) continue;
      rows += m.rows;
      excess += m.with_next[k] - m.density_ratio * m.within[k];
      variance += m.within[k] * m.density_ratio * (1 + m.density_ratio);
    }
    if (rows == 0 || (excess - std::sqrt(variance)) / rows <= most) continue;
    most = (excess - std::sqrt(variance)) / rows;
    const double lost = std::clamp(1 - excess / rows, 0.0, 1.0);
    possible = (excess + kPossibly * std::sqrt(variance + rows * lost * (1 - lost))) / rows;
  }
  return possible >= 1 ? 1 : most;
}

double neighbours_gate(std::vector<double>& displacements, std::vector<double>& spacings) {
  double gate = kGatePerDisplacement * quantile(displacements, kTailQuantile);
  if (spacings.empty()) return gate;
  // A high percentile, since false detections would lower the median.
  const double most = kMostGatePerWideSpacing * quantile(spacings, kWideQuantile);
  return most > 0 ? std::min(gate, most) : gate;
}

/// The estimate from the maximum matchings of the samples, which must have thresholds.
void estimate_by_cardinality(const std::vector<Measured>& measured, const std::vector<double>& lengths_um,
                             GateEstimate& out) {
  std::vector<double> thresholds;
  double rows = 0;
  for (const Measured& m : measured) {
    rows += m.rows;
    thresholds.insert(thresholds.end(), m.thresholds.begin(), m.thresholds.end());
  }
  std::sort(thresholds.begin(), thresholds.end());
  const auto smallest_gate = [&](double links) {
    const auto wanted = std::clamp(std::ceil(links), 1.0, static_cast<double>(thresholds.size()));
    return thresholds[static_cast<std::size_t>(wanted) - 1];
  };
  out.partners = partners_of(measured, lengths_um);
  out.needed_um = smallest_gate(out.share * out.partners * rows);
  out.needed_by_all_um = smallest_gate(out.share * rows);
}

double gate_by_cardinality(const GateEstimate& estimate) {
  const double neighbours = estimate.neighbours_um, spacing = estimate.spacing_um;
  const double most = estimate.ratio() < kSmallRatio ? std::max(neighbours, kMostSafePerSpacing * spacing)
                                                     : kMostPerNeighbours * neighbours;
  if (estimate.ratio() < kTinyRatio) return std::max(neighbours, kMostSafePerSpacing * spacing);
  // If some detections have no partner, the gate by neighbours is too large.
  const double least = estimate.partners < 1 ? std::min(neighbours, kSafePerSpacing * spacing) : neighbours;
  return std::max(std::min(kMargin * estimate.needed_um, most), least);
}

std::vector<GateCurve> curves_of(std::span<const Detections> frames, const std::vector<GateSample>& samples,
                                 const std::vector<Measured>& measured, const std::vector<double>& gates_um) {
  std::vector<GateCurve> curves;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    GateCurve curve{frames[samples[k].frame].frame, frames[samples[k].frame + 1].frame, samples[k].rows, {}};
    for (const double gate : gates_um)
      curve.cardinality.push_back(static_cast<std::int64_t>(count_below(measured[k].thresholds, gate)));
    curves.push_back(std::move(curve));
  }
  return curves;
}

/// The gate if nothing moves and there is no spacing (one particle at rest). Any gate above 0 links it. This
/// one is small relative to the coordinates, so that a particle elsewhere in another frame is not linked.
double gate_at_rest(std::span<const Detections> frames) {
  double largest = 0;
  for (const Detections& frame : frames)
    for (const auto* axis : {&frame.x_um, &frame.y_um, &frame.z_um})
      for (const double x : *axis) largest = std::max(largest, std::abs(x));
  return largest > 0 ? largest * 0x1p-20 : 1;
}

}  // namespace

double GateEstimate::linkable_within(double gate) const {
  double rows = 0, links = 0, before = 0, length_before = 0;
  for (const GateCurve& curve : curves) rows += static_cast<double>(curve.rows);
  for (std::size_t k = 0; k < gates_um.size(); ++k) {
    double here = 0;
    for (const GateCurve& curve : curves) here += static_cast<double>(curve.cardinality[k]);
    if (gate >= gates_um[k]) {
      links = here;
    } else {
      links = before + (here - before) * (gate - length_before) / (gates_um[k] - length_before);
      break;
    }
    before = here;
    length_before = gates_um[k];
  }
  return rows > 0 ? links / rows : 0;
}

std::optional<GateEstimate> estimate_gate(const Execution& execution, std::span<const Detections> frames,
                                          double share) {
  if (!(share > 0 && share <= 1))
    throw std::invalid_argument("estimate_gate: the share must be above 0 and at most 1");
  const int threads = thread_count(execution);
  const std::vector<GateSample> samples = sample_pairs(threads, frames);
  std::vector<double> displacements, spacings;
  for (const GateSample& s : samples) {
    displacements.insert(displacements.end(), s.displacements.begin(), s.displacements.end());
    spacings.insert(spacings.end(), s.spacings.begin(), s.spacings.end());
  }
  if (displacements.empty()) return std::nullopt;
  GateEstimate out;
  out.share = share;
  out.displacement_um = quantile(displacements, 0.5);
  if (!spacings.empty()) out.spacing_um = quantile(spacings, 0.5);
  const std::vector<double> lengths = counted_lengths(out.spacing_um);
  std::vector<Measured> measured(samples.size());
  parallel_for(threads, std::ssize(samples), [&](std::int64_t k) {
    const auto s = static_cast<std::size_t>(k);
    if (samples[s].reach_um > 0) measured[s] = measure(samples[s], lengths);
  });
  out.neighbours_um = out.gate_um = neighbours_gate(displacements, spacings);
  const bool any =
      std::any_of(measured.begin(), measured.end(), [](const Measured& m) { return !m.thresholds.empty(); });
  if (out.spacing_um > 0 && any) {
    estimate_by_cardinality(measured, lengths, out);
    if (out.partners >= kLeastPartners) {
      out.rule = GateRule::cardinality;
      out.gate_um = gate_by_cardinality(out);
    }
    for (int k = 1; k <= kCurvePoints; ++k)
      out.gates_um.push_back(kReachPerSpacing * out.spacing_um * k / kCurvePoints);
    out.curves = curves_of(frames, samples, measured, out.gates_um);
  }
  out.gate_um = std::max(out.gate_um, kLeastGatePerSpacing * out.spacing_um);
  if (!(out.gate_um > 0)) out.gate_um = gate_at_rest(frames);
  return out;
}

}  // namespace motes::tracking
