// The gate from the data, against the best fixed gate: link F1 on simulated series and on tables with truth.
//
//   bench_gate [--n 1000] [--ratio 0.1,0.3,0.6,0.8,1] [--motion walk|brownian] [--persistence 0.5] [--miss 0]
//              [--false 0] [--frames 10] [--seed 7]
//   bench_gate --truth TRACKS.csv [--points TABLE.csv] [--step 1,2,5,10] [--same 5]
//   bench_gate --curve 1 ...                   all fixed gates too
//   bench_gate --time 1 [--n 50000] ...        seconds of the estimate and of linking, without the F1
//
// ratio = root mean square displacement a frame over the spacing of a cube of unit density. Rules: `auto`,
// what motes takes; `neighbours`, mutual nearest neighbours alone; `cardinality`, the smallest gate that
// allows 99 % of the detections a link, right or wrong, without margin; `best`, the best of 18 fixed gates
// from 0.2 to 3.8 spacings in steps of 2^(1/4) (F1 and complete tracks each at its best). One CSV row a case
// and rule; gates in units of the nearest-neighbour spacing. `same`: how near a found position must be to its
// true one.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <motes/base/index.h>
#include <motes/sim/simulation.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/link_score.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/score_tracks.h>

#include "bench/arguments.h"
#include "bench/real_series.h"

using namespace motes;

namespace {

struct Series {
  std::string name;
  TrackSet truth;
  std::vector<Detections> frames;
  double same = 1e-6;
};

std::vector<Series> simulated(const bench::Arguments& arguments) {
  std::vector<Series> all;
  const std::string motion = arguments.text("motion").value_or("walk");
  for (const double n : arguments.numbers("n", {1000}))
    for (const double miss : arguments.numbers("miss", {0}))
      for (const double clutter : arguments.numbers("false", {0}))
        for (const double persistence : arguments.numbers("persistence", {0.5}))
          for (const double ratio : arguments.numbers("ratio", {0.1, 0.3, 0.6, 0.8, 1})) {
            sim::MotionOptions options;
            options.particles = static_cast<std::int64_t>(n);
            options.frames = static_cast<std::int32_t>(arguments.number("frames", 10));
            const double side = std::cbrt(n);
            options.box_um = {side, side, side};
            options.persistence = persistence;
            options.seed = static_cast<std::uint64_t>(arguments.number("seed", 7));
            options.speed_um_s = ratio;
            if (motion == "brownian") {
              options.motion = sim::Motion::brownian;
              options.diffusion_um2_s = ratio * ratio / 6;
            }
            sim::FaultOptions faults;
            faults.miss = miss;
            faults.false_per_frame = clutter * n;
            char name[160];
            std::snprintf(name, sizeof name, "%s n=%g ratio=%g persistence=%g miss=%g false=%g",
                          motion.c_str(), n, ratio, persistence, miss, clutter);
            Series one{name, sim::simulate_motion({}, options), {}};
            one.frames = sim::observe({}, one.truth, options, faults).frames;
            all.push_back(std::move(one));
          }
  return all;
}

std::vector<Series> real(const bench::Arguments& arguments, const std::string& truth) {
  std::vector<Series> all;
  for (bench::RealSeries& one : bench::real_series(arguments, truth))
    all.push_back({one.name + " step=" + std::to_string(one.step), std::move(one.truth),
                   std::move(one.frames), arguments.number("same", 5)});
  return all;
}

std::vector<tracking::PairLinks> links_within(const Series& series, double gate) {
  return tracking::link_frames({}, series.frames, {{gate, tracking::LinkCost::squared, -1}, "auto", false});
}

/// What a gate gets right.
struct Right {
  double f1 = 0, complete = 0;
};

Right right_within(const Series& series, double gate) {
  const TrackSet found = tracking::build_tracks(series.frames, links_within(series, gate));
  const LinkScores scores = tracking::link_scores({}, series.truth, found, series.same);
  return {scores.f1, static_cast<double>(scores.detected.complete) /
                         std::max(1.0, static_cast<double>(scores.detected.tracks))};
}

void compare(const Series& series, const tracking::GateEstimate& estimate, bool curve) {
  const auto row = [&](const char* rule, double gate, const Right& right) {
    std::printf("%s,%s,%.3f,%.4f,%.4f,%.3f,%.3f\n", series.name.c_str(), rule, gate / estimate.spacing_um,
                right.f1, right.complete, estimate.ratio(), estimate.partners);
    std::fflush(stdout);
  };
  const std::pair<const char*, double> rules[] = {{"auto", estimate.gate_um},
                                                  {"neighbours", estimate.neighbours_um},
                                                  {"cardinality", estimate.needed_by_all_um}};
  Right best;
  double best_gate = 0, most_complete = 0;
  const auto at = [&](double gate) {
    const Right right = right_within(series, gate);
    if (right.f1 > best.f1) best.f1 = right.f1, best.complete = right.complete, best_gate = gate;
    most_complete = std::max(most_complete, right.complete);
    return right;
  };
  for (const auto& [rule, gate] : rules) row(rule, gate, at(gate));
  if (curve) row("needed", estimate.needed_um, {});
  best = {};
  most_complete = 0;
  for (int k = 0; k < 18; ++k) {
    const double gate = 0.2 * estimate.spacing_um * std::pow(2.0, k / 4.0);
    const Right right = at(gate);
    if (curve) row("fixed", gate, right);
  }
  best.complete = most_complete;
  row("best", best_gate, best);
}

void time(const Series& series) {
  double estimate_s = HUGE_VAL, link_s = HUGE_VAL, gate = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    estimate_s = std::min(estimate_s,
                          bench::timed([&] { gate = tracking::estimate_gate({}, series.frames)->gate_um; }));
    link_s = std::min(link_s, bench::timed([&] { links_within(series, gate); }));
  }
  std::printf("%s,%.4f,%.4f,%.3f\n", series.name.c_str(), estimate_s, link_s, estimate_s / link_s);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto truth = arguments.text("truth");
  const bool timing = arguments.number("time", 0) != 0;
  if (arguments.number("header", 1) != 0)
    std::puts(timing ? "series,estimate_s,linking_s,share"
                     : "series,rule,gate_per_spacing,f1,complete,ratio,partners");
  for (const Series& series : truth ? real(arguments, *truth) : simulated(arguments)) {
    const auto estimate = tracking::estimate_gate({}, series.frames);
    if (!estimate) continue;
    timing ? time(series) : compare(series, *estimate, arguments.number("curve", 0) != 0);
  }
  return 0;
}
