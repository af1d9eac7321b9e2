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

/// How long a sample is iterated at one temperature: until the demand for every column is 1 within a factor
/// of exp(imbalance), or for `turns` iterations. Finer samples would need many iterations to correct
/// imbalance of long wavelength that the coarsest one leaves.
struct Schedule {
  double imbalance;
  int turns;
  double momentum;  ///< share of the last change that is added
};
constexpr Schedule kFiner{0.05, 30, 0.7}, kWhole{0.05, 4, 0.7};
constexpr double kFewWanted = 3;              ///< columns per row: a sample is then cold enough
constexpr double kFlat = 16, kStalled = 0.8;  ///< fewer than kFlat, and they fall no more

/// The results of an iteration.
struct Turn {
  double wanted;     ///< columns that a row wants, on average over rows
  double imbalance;  ///< the largest magnitude of the logarithm of a column's demand
};

/// Iterates while the temperature falls, until rows demand few columns, or hardly fewer than before; `once`:
/// at one temperature. turn(temperature, momentum) -> Turn.
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

/// One index from each of `size` equal pieces of [0, count).
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
