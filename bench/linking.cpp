// Linking benchmark: particles on a correlated walk, exact links of every successive frame pair.
//
//   bench_linking [--n 5000,50000] [--ratio 0.1,0.3,0.6] [--persistence 0.5] [--frames 20] [--threads 1]
//                 [--repeats 5] [--backend cpu|cuda|auto] [--solver auto] [--verify 1] [--header 1]
//                 [--dump FOLDER]
//
// ratio = displacement per frame / mean spacing; the gate is 1.5 x the displacement. Times cover candidates
// and solving, as link_frames does them; certificates are checked outside the timer, in one warm-up run
// before, whose GPU memory (LinkWorkspace) the timed ones use. One CSV row a case; `stages` are seconds a
// pair, by name.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <motes/sim/simulation.h>
#include <motes/tracking/linker.h>

#include "bench/arguments.h"
#include "bench/frames.h"

using namespace motes;

namespace {

/// Raw doubles, x y z by particle, one file a frame: what the peers' scripts read.
void dump(const std::vector<Detections>& frames, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const Detections& d : frames) {
    std::ofstream out(folder + "/frame_" + std::to_string(d.frame) + ".f64", std::ios::binary);
    for (std::size_t k = 0; k < d.size(); ++k) {
      const double point[3] = {d.x_um[k], d.y_um[k], d.z_um[k]};
      out.write(reinterpret_cast<const char*>(point), sizeof point);
    }
  }
}

double fraction_correct(const std::vector<tracking::PairLinks>& links) {
  std::size_t right = 0, all = 0;
  for (const auto& pair : links)
    for (std::size_t k = 0; k < pair.next.size(); ++k)
      ++all, right += pair.next[k] == static_cast<matching::Index>(k);
  return static_cast<double>(right) / static_cast<double>(all);
}

std::string text_of(const std::map<std::string, double>& stages) {
  std::string text;
  for (const auto& [name, seconds] : stages) {
    char item[64];
    std::snprintf(item, sizeof item, "%s%s=%.6f", text.empty() ? "" : " ", name.c_str(), seconds);
    text += item;
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto repeats = static_cast<std::size_t>(arguments.number("repeats", 5));
  const auto frame_count = static_cast<std::int32_t>(arguments.number("frames", 20));
  const double persistence = arguments.number("persistence", 0.5);
  const std::string backend = arguments.text("backend").value_or("cpu");
  const bool verify = arguments.number("verify", 1) != 0;
  if (arguments.number("header", 1) != 0)
    std::puts(
        "n,ratio,persistence,threads,pairs,seconds_per_pair_median,seconds_per_pair_min,seconds_per_pair_max,"
        "candidates_s,"
        "solve_s,candidates_per_row,largest_component,fraction_correct,certified,backend,solver,stages");
  for (const double n : arguments.numbers("n", {5000, 50000})) {
    for (const double ratio : arguments.numbers("ratio", {0.1, 0.3, 0.6})) {
      for (const double threads : arguments.numbers("threads", {1})) {
        sim::MotionOptions motion;
        motion.particles = static_cast<std::int64_t>(n);
        motion.frames = frame_count;
        const double side = std::cbrt(n);
        motion.box_um = {side, side, side};
        motion.speed_um_s = ratio;
        motion.persistence = persistence;
        const auto frames = bench::frames_of(sim::simulate_motion({}, motion), frame_count);
        if (const auto folder = arguments.text("dump")) dump(frames, *folder);

        const tracking::LinkOptions options{
            {1.5 * ratio, tracking::LinkCost::squared, -1}, arguments.text("solver").value_or("auto"), false};
        Execution execution;
        execution.threads = static_cast<int>(threads);
        execution.backend = backend == "cuda"   ? Backend::cuda
                            : backend == "auto" ? Backend::automatic
                                                : Backend::cpu;
        tracking::LinkOptions checked = options;
        checked.verify = verify;
        tracking::LinkWorkspace workspace;
        const auto proven = tracking::link_frames(execution, frames, checked, {}, &workspace);
        const bool certified =
            std::all_of(proven.begin(), proven.end(), [](const auto& pair) { return pair.verified; });
        std::vector<double> seconds;
        std::vector<tracking::PairLinks> links;
        for (std::size_t r = 0; r < repeats; ++r) {
          const auto start = std::chrono::steady_clock::now();
          links = tracking::link_frames(execution, frames, options, {}, &workspace);
          seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
                            static_cast<double>(links.size()));
        }
        std::sort(seconds.begin(), seconds.end());
        double candidates_s = 0, solve_s = 0, candidates = 0;
        std::int64_t largest = 0;
        std::map<std::string, double> stages;
        const auto pairs = static_cast<double>(links.size());
        for (const auto& pair : links) {
          candidates_s += pair.candidates_s / pairs;
          solve_s += pair.solve_s / pairs;
          for (const auto& [name, spent] : pair.stage_s) stages[name] += spent / pairs;
          candidates += static_cast<double>(pair.candidates) / pairs / n;
          largest = std::max(largest, pair.largest_component);
        }
        std::printf("%.0f,%g,%g,%.0f,%zu,%.6f,%.6f,%.6f,%.6f,%.6f,%.2f,%lld,%.4f,%s,%s,%s,%s\n", n, ratio,
                    persistence, threads, links.size(), seconds[seconds.size() / 2], seconds.front(),
                    seconds.back(), candidates_s, solve_s, candidates, static_cast<long long>(largest),
                    fraction_correct(links),
                    !verify     ? "unchecked"
                    : certified ? "yes"
                                : "no",
                    links[0].backend == Backend::cuda ? "cuda" : "cpu", links[0].solver.c_str(),
                    text_of(stages).c_str());
        std::fflush(stdout);
      }
    }
  }
}
