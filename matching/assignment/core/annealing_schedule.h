#pragma once
/// The cooling schedule of annealed prices (annealed_prices.cpp), shared by the CPU and the CUDA form.

#include <algorithm>
#include <limits>
#include <vector>

#include <motes/base/index.h>
#include <motes/matching/problem.h>

#include "matching/assignment/canonical/search_rules.h"

namespace motes::matching::detail::annealing {

constexpr double kLog2E = 1.4426950408889634;
constexpr double kCooling = 0.5;  ///< from one temperature to the next
constexpr double kColdest = 1e-9;
constexpr float kLeastWanted = 1e-30F;

/// How long a sample is kept at one temperature: until every column is wanted once, but for a factor of
/// exp(imbalance), or `turns` times. What is left of imbalance on the coarsest sample, in long waves, finer
/// ones would take many turns to correct.
struct Schedule {
  double imbalance;
  int turns;
  double momentum;  ///< share of the last turn's change that goes on
};
constexpr Schedule kFiner{0.05, 30, 0.7}, kWhole{0.05, 4, 0.7};
constexpr double kFewWanted = 3;              ///< columns a row: as cold as a sample need be
constexpr double kFlat = 16, kStalled = 0.8;  ///< fewer than kFlat, and they fall no more

/// What a turn saw.
struct Turn {
  double wanted;     ///< columns that a row wants, on average over rows
  double imbalance;  ///< the greatest logarithm, either way, of how often a column is wanted
};

/// Turns while the temperature falls, until rows want few columns, or hardly fewer than before; `once`: at
/// one temperature. turn(temperature, momentum) -> Turn.
template <class TakeTurn>
void cool(double& temperature, const Schedule& schedule, bool once, TakeTurn&& turn) {
  double last = std::numeric_limits<double>::infinity();
  const double coldest = temperature * kColdest;
  while (temperature > coldest) {
    temperature *= kCooling;
    double wanted = 0;
    for (int k = 0; k < schedule.turns; ++k) {
      const Turn now = turn(temperature, schedule.momentum);
      wanted = now.wanted;
      if (now.imbalance < schedule.imbalance) break;
    }
    if (once || wanted < kFewWanted || (wanted < kFlat && wanted > kStalled * last)) return;
    last = wanted;
  }
}

/// One place in each of `size` equal pieces of [0, count).
inline std::vector<Index> sampled(Index count, Index size, Index salt) {
  std::vector<Index> out(at(size));
  for (Index k = 0; k < size; ++k) {
    const Offset begin = Offset{count} * k / size, end = Offset{count} * (k + 1) / size;
    out[at(k)] = static_cast<Index>(begin + (count == size ? 0 : scramble(k + salt) % (end - begin)));
  }
  return out;
}
constexpr Index kSaltOfColumns = 7919;

/// From about `first` rows and columns to all n, four times as many each time.
inline std::vector<Index> sizes_up_to(Index n, Index first) {
  std::vector<Index> out{n};
  while (2 * Offset{out.back()} > 3 * Offset{first}) out.push_back(std::max(first, (out.back() + 3) / 4));
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace motes::matching::detail::annealing
