// Accuracy benchmark: simulate, (detect,) link, score, over a grid of difficulties and several seeds.
//
//   bench_accuracy --part links  [--n 500,5000] [--ratio 0.1,0.3,0.6,1] [--persistence 0.5,0.9] [--noise 0]
//                  [--miss 0] [--false 0] [--gate known|auto] [--frames 20] [--seeds 3] [--scores links|all]
//                  [--solver auto]
//   bench_accuracy --part images [--n 100,500,1000] [--snr 1,2,4,7] [--frames 10] [--seeds 3] [--solver auto]
//
// links: particles on a correlated walk in a cube of unit mean spacing; ratio = displacement a frame over
// that spacing; noise = standard deviation of the localisation error in spacings; miss = probability that a
// particle is missed in a frame; false = false detections per frame for each particle. gate known: 1.5 x the
// displacement (and three standard deviations of the noise of both ends); auto: motes estimates it. images:
// virus-like volumes, 512 x 512 x 10 voxels, runs of 5.8 px per frame or diffusion of 0.66 px, rendered,
// detected with the known spot radius, linked with the estimated gate, scored with the challenge's gate of 5.
// One CSV row a case: mean and standard deviation over the seeds of every score.

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <motes/sim/faults.h>
#include <motes/sim/simulation.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/link_score.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/log_detector.h>
#include <motes/tracking/score_tracks.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

/// Scores by name, one value a seed.
using Samples = std::map<std::string, std::vector<double>>;

struct Case {
  std::string part;
  double n = 0, ratio = 0, persistence = 0, noise = 0, miss = 0, clutter = 0, snr = 0;
};

const std::vector<std::string> kScores{"correct_links", "precision", "f1",   "jsc",        "alpha",
                                       "beta",          "rmse",      "gate", "detections", "seconds_link"};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? std::nan("") : sum / static_cast<double>(values.size());
}
double spread(const std::vector<double>& values) {
  if (values.size() < 2) return std::nan("");
  const double centre = mean(values);
  double sum = 0;
  for (const double v : values) sum += (v - centre) * (v - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

void print_header() {
  std::string line = "part,n,ratio,persistence,noise,miss,false,snr,gate_rule,seeds";
  for (const auto& name : kScores) line += "," + name + "," + name + "_sd";
  std::puts(line.c_str());
}

void print_row(const Case& c, const std::string& gate_rule, const Samples& samples, int seeds) {
  std::printf("%s,%g,%g,%g,%g,%g,%g,%g,%s,%d", c.part.c_str(), c.n, c.ratio, c.persistence, c.noise, c.miss,
              c.clutter, c.snr, gate_rule.c_str(), seeds);
  for (const auto& name : kScores) {
    const auto found = samples.find(name);
    if (found == samples.end() || found->second.empty())
      std::printf(",,");
    else
      std::printf(",%.5g,%.2g", mean(found->second), spread(found->second));
  }
  std::putchar('\n');
  std::fflush(stdout);
}

void keep(Samples& samples, const LinkScores& link) {
  const auto all = static_cast<double>(link.true_links + link.missed_links);
  samples["correct_links"].push_back(all > 0 ? static_cast<double>(link.true_links) / all : std::nan(""));
  samples["precision"].push_back(link.precision);
  samples["f1"].push_back(link.f1);
}
void keep(Samples& samples, const ChallengeScores& scores) {
  samples["jsc"].push_back(scores.jsc);
  samples["alpha"].push_back(scores.alpha);
  samples["beta"].push_back(scores.beta);
  samples["rmse"].push_back(scores.rmse);
}

TrackSet link(const std::vector<Detections>& frames, double gate, const std::string& solver,
              Samples& samples) {
  const tracking::LinkOptions options{{gate, tracking::LinkCost::squared, -1}, solver, true};
  const auto links = tracking::link_frames({}, frames, options);
  double seconds = 0, detections = 0;
  for (const auto& pair : links) seconds += pair.candidates_s + pair.solve_s;
  for (const auto& frame : frames) detections += static_cast<double>(frame.size());
  samples["seconds_link"].push_back(seconds / static_cast<double>(links.size()));
  samples["detections"].push_back(detections / static_cast<double>(frames.size()));
  samples["gate"].push_back(gate);
  return tracking::build_tracks(frames, links);
}

double estimated_gate(const std::vector<Detections>& frames) {
  const auto estimate = tracking::estimate_gate({}, frames);
  return estimate ? estimate->gate_um : 1;
}

void run_links(const bench::Arguments& arguments, int seeds) {
  const auto frames = static_cast<std::int32_t>(arguments.number("frames", 20));
  const std::string gate_rule = arguments.text("gate").value_or("known");
  const std::string solver = arguments.text("solver").value_or("auto");
  const bool all_scores = arguments.text("scores").value_or("links") == "all";
  for (const double n : arguments.numbers("n", {500, 5000}))
    for (const double ratio : arguments.numbers("ratio", {0.1, 0.3, 0.6, 1}))
      for (const double persistence : arguments.numbers("persistence", {0.5, 0.9}))
        for (const double noise : arguments.numbers("noise", {0}))
          for (const double miss : arguments.numbers("miss", {0}))
            for (const double clutter : arguments.numbers("false", {0})) {
              Samples samples;
              for (int seed = 1; seed <= seeds; ++seed) {
                sim::MotionOptions motion;
                motion.particles = static_cast<std::int64_t>(n);
                motion.frames = frames;
                const double side = std::cbrt(n);
                motion.box_um = {side, side, side};
                motion.speed_um_s = ratio;
                motion.persistence = persistence;
                motion.seed = static_cast<std::uint64_t>(seed);
                const TrackSet truth = sim::simulate_motion({}, motion);
                sim::FaultOptions faults;
                faults.noise_um = {noise, noise, noise};
                faults.miss = miss;
                faults.false_per_frame = clutter * n;
                const auto observed = sim::observe({}, truth, motion, faults);
                const double gate = gate_rule == "auto" ? estimated_gate(observed.frames)
                                                        : 1.5 * ratio + 3 * std::sqrt(2.0) * noise;
                const TrackSet found = link(observed.frames, gate, solver, samples);
                // A found position is a true one if it is nearer than the noise explains.
                const double same = std::max(1e-6, 4 * noise);
                if (all_scores) {
                  const auto scores = tracking::score_tracks({}, truth, found, {same, same});
                  keep(samples, scores.link);
                  keep(samples, scores.challenge);
                } else {
                  keep(samples, tracking::link_scores({}, truth, found, same));
                }
              }
              print_row({"links", n, ratio, persistence, noise, miss, clutter, 0}, gate_rule, samples, seeds);
            }
}

/// As in a truth file of the challenge's virus scenario.
sim::MotionOptions virus_like(double n, std::int32_t frames, std::uint64_t seed) {
  sim::MotionOptions motion;
  motion.particles = static_cast<std::int64_t>(n);
  motion.frames = frames;
  motion.box_um = {511, 511, 9};
  motion.motion = sim::Motion::switching;
  motion.states = {sim::Motion::brownian, sim::Motion::directed};
  motion.switch_rate_per_s = {0.1, 0.1};
  motion.state_speed_um_s = {0, 5.8};
  motion.state_diffusion_um2_s = {0.66 * 0.66 / 2, 0.66 * 0.66 / 2};
  motion.boundary = sim::Boundary::open;
  motion.seed = seed;
  return motion;
}

void run_images(const bench::Arguments& arguments, int seeds) {
  const auto frames = static_cast<std::int32_t>(arguments.number("frames", 10));
  const std::string solver = arguments.text("solver").value_or("auto");
  for (const double n : arguments.numbers("n", {100, 500, 1000}))
    for (const double snr : arguments.numbers("snr", {1, 2, 4, 7})) {
      Samples samples;
      for (int seed = 1; seed <= seeds; ++seed) {
        const auto motion = virus_like(n, frames, static_cast<std::uint64_t>(seed));
        sim::ImagingOptions imaging;
        imaging.voxel_um = {1, 1, 1};
        imaging.psf_sigma_um = {1.5, 1.5, 1.5};
        imaging.snr = snr;
        TrackSet truth = sim::simulate_motion({}, motion);
        sim::Renderer renderer({}, motion, imaging);
        std::vector<Detections> found(static_cast<std::size_t>(frames));
        tracking::DetectionOptions detection;
        const double radius = std::sqrt(3.0) * 1.5;
        detection.radius_um = {radius, radius, radius};
        for (std::int32_t t = 0; t < frames; ++t)
          found[static_cast<std::size_t>(t)] =
              tracking::detect_spots({}, renderer.render(truth, t), detection);
        const TrackSet tracks = link(found, estimated_gate(found), solver, samples);
        const auto scores = tracking::score_tracks({}, truth, tracks, {5, 5});
        keep(samples, scores.link);
        keep(samples, scores.challenge);
      }
      print_row({"images", n, 0, 0, 0, 0, 0, snr}, "auto", samples, seeds);
    }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto seeds = static_cast<int>(arguments.number("seeds", 3));
  const std::string part = arguments.text("part").value_or("links");
  if (arguments.number("header", 1) != 0) print_header();
  if (part == "links") {
    run_links(arguments, seeds);
  } else if (part == "images") {
    run_images(arguments, seeds);
  } else {
    std::fprintf(stderr, "--part is links or images\n");
    return 2;
  }
  return 0;
}
