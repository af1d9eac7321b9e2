// Whether the answer of the previous frame pair is a useful warm start. Particles on a correlated walk; each
// pair is solved by jv on one thread from nothing (cold), from what the pair before suggests (predicted), and
// from its own answer (oracle: no prediction can be better).
//
//   bench_warm_start [--n 50000] [--ratio 0.1,0.3,0.6] [--persistence 0.5] [--frames 8] [--repeats 5]
//
// The prediction: a detection's price is the price that its cheapest predecessor had as a column of the pair
// before; each row then claims its best offer, first come first served. One CSV row a case: bids and searches
// a row and settled columns a search (these do not depend on the machine), seconds of solving without
// candidates, median over pairs of the least over repeats.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <motes/matching/registry.h>
#include <motes/sim/simulation.h>
#include <motes/tracking/candidates.h>

#include "bench/arguments.h"
#include "bench/frames.h"

using namespace motes;
using matching::Cost;
using matching::Index;

namespace {

struct Guess {
  std::vector<Index> row_to_col;
  std::vector<Cost> v;
  matching::Start view() const { return {row_to_col, {}, v}; }
};

/// `before`: prices of this pair's rows when they were columns.
Guess predict(const matching::SparseCosts& costs, const std::vector<Cost>& before) {
  const auto& graph = costs.graph;
  Guess guess{std::vector<Index>(static_cast<std::size_t>(graph.rows), -1), costs.unmatched_col_cost};
  std::vector<Cost> nearest(guess.v.size(), matching::kInfiniteCost);
  const auto for_each = [&](std::size_t i, const auto& visit) {
    for (auto e = static_cast<std::size_t>(graph.row_offsets[i]);
         e < static_cast<std::size_t>(graph.row_offsets[i + 1]); ++e)
      visit(static_cast<std::size_t>(graph.col_index[e]), costs.cost[e]);
  };
  for (std::size_t i = 0; i < guess.row_to_col.size(); ++i)
    for_each(i, [&](std::size_t j, Cost c) {
      if (c >= nearest[j]) return;
      nearest[j] = c;
      guess.v[j] = std::min(before[i], costs.unmatched_col_cost[j]);
    });
  std::vector<char> taken(guess.v.size(), 0);
  for (std::size_t i = 0; i < guess.row_to_col.size(); ++i) {
    Cost best = costs.unmatched_row_cost[i];
    Index col = -1;
    for_each(i, [&](std::size_t j, Cost c) {
      if (c - guess.v[j] < best) best = c - guess.v[j], col = static_cast<Index>(j);
    });
    if (col == -1 || taken[static_cast<std::size_t>(col)]) continue;
    taken[static_cast<std::size_t>(col)] = 1;
    guess.row_to_col[i] = col;
  }
  return guess;
}

struct Tally {
  double bids = 0, searches = 0, settled = 0, rows = 0;
  std::vector<double> seconds;
};

template <class MakeStart>
matching::Matching run(const matching::SparseCosts& costs, int repeats, Tally& tally, const MakeStart& make) {
  const auto jv = matching::find_solver("jv")->make();
  matching::Matching answer;
  double least = 1e9;
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    const Guess guess = make();
    answer = jv->solve({1}, costs.view(), guess.v.empty() ? matching::Start{} : guess.view());
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  tally.seconds.push_back(least);
  tally.bids += static_cast<double>(answer.stats.rounds);
  tally.searches += static_cast<double>(answer.stats.augmentations);
  tally.settled += static_cast<double>(answer.stats.phases);
  tally.rows += costs.graph.rows;
  return answer;
}

void print(double n, double ratio, const char* start, Tally& tally) {
  std::sort(tally.seconds.begin(), tally.seconds.end());
  std::printf("%.0f,%g,%s,%.4f,%.4f,%.2f,%.5f\n", n, ratio, start, tally.bids / tally.rows,
              tally.searches / tally.rows, tally.searches > 0 ? tally.settled / tally.searches : 0,
              tally.seconds[tally.seconds.size() / 2]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto repeats = static_cast<int>(arguments.number("repeats", 5));
  const auto frame_count = static_cast<std::int32_t>(arguments.number("frames", 8));
  std::puts("n,ratio,start,bids_per_row,searches_per_row,settled_per_search,seconds");
  for (const double n : arguments.numbers("n", {50000})) {
    for (const double ratio : arguments.numbers("ratio", {0.1, 0.3, 0.6})) {
      sim::MotionOptions motion;
      motion.particles = static_cast<std::int64_t>(n);
      motion.frames = frame_count;
      motion.box_um = {std::cbrt(n), std::cbrt(n), std::cbrt(n)};
      motion.speed_um_s = ratio;
      motion.persistence = arguments.number("persistence", 0.5);
      const auto frames = bench::frames_of(sim::simulate_motion({}, motion), frame_count);
      Tally cold, predicted, oracle;
      std::vector<Cost> before;
      for (std::size_t k = 0; k + 1 < frames.size(); ++k) {
        const auto costs = tracking::build_candidates({1}, frames[k], frames[k + 1],
                                                      {1.5 * ratio, tracking::LinkCost::squared, -1})
                               .costs;
        if (k == 0) {
          before = matching::find_solver("jv")->make()->solve({1}, costs.view()).duals.v;
          continue;
        }
        const auto answer = run(costs, repeats, cold, [] { return Guess{}; });
        run(costs, repeats, predicted, [&] { return predict(costs, before); });
        run(costs, repeats, oracle, [&] { return Guess{answer.row_to_col, answer.duals.v}; });
        before = answer.duals.v;
      }
      print(n, ratio, "cold", cold);
      print(n, ratio, "predicted", predicted);
      print(n, ratio, "oracle", oracle);
    }
  }
}
