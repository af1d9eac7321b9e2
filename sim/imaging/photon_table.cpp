/// Builds the tables of photon and noise distributions.

#include "sim/imaging/photon_table.h"

#include <algorithm>
#include <cmath>

namespace motes::sim::detail {
namespace {

/// Weights below this share of the largest one cannot change a 32-bit word.
constexpr double kNegligible = 0x1p-50;

/// exp(-x) for small x >= 0, by its series.
double exp_minus(double x) {
  double sum = 1;
  for (int n = 20; n > 0; --n) sum = 1 - x / n * sum;
  return sum;
}

}  // namespace

void InversionTables::add(std::int64_t first, const std::vector<double>& weight) {
  double total = 0;
  for (const double w : weight) total += w;
  const auto begin = static_cast<std::uint32_t>(last_word.size());
  double sum = 0;
  std::size_t skipped = 0;
  for (const double w : weight) {
    sum += w;
    const double words = std::floor(std::min(sum / total, 1.0) * 0x1p32 + 0.5);
    if (words < 1) {
      ++skipped;  // no word maps to a number this small
      continue;
    }
    last_word.push_back(static_cast<std::uint32_t>(words - 1));
    if (words >= 0x1p32) break;
  }
  last_word.back() = 0xFFFFFFFF;
  span.push_back({begin, static_cast<std::uint32_t>(last_word.size()) - begin,
                  static_cast<std::int32_t>(first + static_cast<std::int64_t>(skipped))});
  std::uint32_t entry = 0;
  for (std::uint32_t lead = 0; lead < (1U << guide_bits); ++lead) {
    while (last_word[begin + entry] < lead << (32 - guide_bits)) ++entry;
    guide.push_back(entry);
  }
  guide.push_back(span.back().count - 1);
}

void InversionTables::add_poisson(double mean) {
  const double mode = std::floor(mean);
  std::vector<double> below;  // weights from the mode downwards
  double weight = 1;
  for (double k = mode; k > 0 && weight > kNegligible; --k) {
    weight *= k / mean;
    below.push_back(weight);
  }
  std::vector<double> weights(below.rbegin(), below.rend());
  weight = 1;
  for (double k = mode + 1; weight > kNegligible; ++k) {
    weights.push_back(weight);
    weight *= mean / k;
  }
  add(static_cast<std::int64_t>(mode) - static_cast<std::int64_t>(below.size()), weights);
}

void InversionTables::add_normal(double steps) {
  // exp(-(k + 1)^2 / 2s^2) = exp(-k^2 / 2s^2) * q^(2k + 1) with q = exp(-1 / 2s^2).
  const double q = exp_minus(0.5 / (steps * steps));
  std::vector<double> above;
  double weight = 1, ratio = q;
  while (weight > kNegligible) {
    weight *= ratio;
    ratio *= q * q;
    above.push_back(weight);
  }
  std::vector<double> weights(above.rbegin(), above.rend());
  weights.push_back(1);
  weights.insert(weights.end(), above.begin(), above.end());
  add(-static_cast<std::int64_t>(above.size()), weights);
}

PhotonTables::PhotonTables(double background, double largest_signal) {
  // With a bright background each table is long, and few voxels are just above it.
  fine_span = background <= 256 ? 64 : 8;
  const int steps = static_cast<int>(fine_span) * kFineSteps;
  for (int j = 0; j <= steps; ++j) fine.add_poisson(background + static_cast<double>(j) / kFineSteps);
  double reach = static_cast<double>(fine_span);
  do {
    coarse.add_poisson(reach);
    reach *= 2;
  } while (reach <= largest_signal);
  // Below `reach`, so that there is a table for every digit of the largest signal.
  largest = std::nextafter(static_cast<float>(reach), 0.0F);
}

}  // namespace motes::sim::detail
