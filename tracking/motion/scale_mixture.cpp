#include "tracking/motion/scale_mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include <motes/tracking/radial_density.h>

namespace motes::tracking {
namespace {

constexpr double kRatio = 1.05;
/// Scales of the Gaussians: from 1/8 to 256 in steps of half an octave.
constexpr std::size_t kScales = 23;
constexpr double kLeastScale = 1.0 / 8;
/// Lengths are counted in bins of an eighth of an octave, from kLeastLength to 1024.
constexpr double kLeastLength = 1.0 / 64, kBinsPerOctave = 8;
constexpr std::size_t kLengthBins = 128;
/// Expectation maximisation ends when no weight changes by more than kSettled.
constexpr int kMostSteps = 60;
constexpr double kSettled = 5e-4;

using Weights = std::array<double, kScales>;

std::size_t length_bin(double length) {
  const double place = std::log2(length / kLeastLength) * kBinsPerOctave;
  return place > 0 ? static_cast<std::size_t>(std::min(place, kLengthBins - 1.0)) : 0;
}

double scale_of(std::size_t k) { return kLeastScale * std::exp2(static_cast<double>(k) / 2); }

Weights gaussians_at(double length, int dims) {
  Weights out{};
  for (std::size_t k = 0; k < kScales; ++k) {
    const double u = length / scale_of(k);
    out[k] = std::exp(-u * u / 2) / std::pow(std::sqrt(2 * std::numbers::pi) * scale_of(k), dims);
  }
  return out;
}

/// The Student t as a mixture: kStudentFreedom / scale^2 follows a chi-squared distribution.
Weights student_weights() {
  Weights out{};
  double sum = 0;
  for (std::size_t k = 0; k < kScales; ++k) {
    const double x = kStudentFreedom / (scale_of(k) * scale_of(k));
    sum += out[k] = std::pow(x, kStudentFreedom / 2) * std::exp(-x / 2);
  }
  for (double& weight : out) weight /= sum;
  return out;
}

/// Densities of all Gaussians in the middle of each bin, and at each tabulated length.
struct Densities {
  std::vector<Weights> in_bin, at_length;
};
const Densities& densities(int dims) {
  static const std::array<Densities, 3> by_dims = [] {
    std::array<Densities, 3> out;
    for (int d = 1; d <= 3; ++d) {
      Densities& of = out[static_cast<std::size_t>(d) - 1];
      for (std::size_t b = 0; b < kLengthBins; ++b)
        of.in_bin.push_back(
            gaussians_at(kLeastLength * std::exp2((static_cast<double>(b) + 0.5) / kBinsPerOctave), d));
      for (const double length : tabulated_lengths()) of.at_length.push_back(gaussians_at(length, d));
    }
    return out;
  }();
  return by_dims[static_cast<std::size_t>(dims) - 1];
}

double mixed(const Weights& weights, const Weights& gaussians) {
  double sum = 0;
  for (std::size_t k = 0; k < kScales; ++k) sum += weights[k] * gaussians[k];
  return sum;
}

}  // namespace

const std::vector<double>& tabulated_lengths() {
  static const std::vector<double> lengths = [] {
    std::vector<double> out;
    for (double u = 0; u <= kTabulatedEvenTo; u += 1 / kTabulatedPerScale) out.push_back(u);
    while (out.back() < RadialDensity::kMostReach) out.push_back(out.back() * kRatio);
    return out;
  }();
  return lengths;
}

double tabulated_place(double length) {
  static const double per_log = 1 / std::log(kRatio);
  const double place = length < kTabulatedEvenTo ? length * kTabulatedPerScale
                                                 : kTabulatedEvenTo * kTabulatedPerScale +
                                                       std::log(length / kTabulatedEvenTo) * per_log;
  return std::min(place, static_cast<double>(tabulated_lengths().size() - 1));
}

std::vector<double> scale_mixture_density(std::span<const double> lengths, int dims) {
  std::array<double, kLengthBins> counts{};
  for (const double length : lengths) counts[length_bin(length)] += 1;
  const Densities& of = densities(dims);
  const Weights prior = student_weights();
  const double all = static_cast<double>(lengths.size()) + kPriorLengths;
  Weights weights = prior;
  double moved = 1;
  for (int step = 0; step < kMostSteps && moved > kSettled; ++step) {
    Weights next{};
    for (std::size_t b = 0; b < kLengthBins; ++b) {
      const double density = mixed(weights, of.in_bin[b]);
      if (counts[b] == 0 || !(density > 0)) continue;
      for (std::size_t k = 0; k < kScales; ++k) next[k] += counts[b] / density * of.in_bin[b][k];
    }
    moved = 0;
    for (std::size_t k = 0; k < kScales; ++k) {
      next[k] = (next[k] * weights[k] + kPriorLengths * prior[k]) / all;
      moved = std::max(moved, std::abs(next[k] - weights[k]));
    }
    weights = next;
  }
  std::vector<double> out;
  out.reserve(of.at_length.size());
  for (const Weights& gaussians : of.at_length) out.push_back(mixed(weights, gaussians));
  return out;
}

}  // namespace motes::tracking
