// Greedy matching benchmark: generated weighted graphs through solvers and numbers of threads, certified.
//
//   bench_greedy --instance 'gen:gated?n=1000000&degree=8&general=1' [--solver 'greedy-suitor greedy-sorted']
//                [--threads 1,2] [--repeats 5] [--verify 1] [--header 1] [--backend cpu|cuda]
//                [--space host|device] [--rounds 0] [--coarsen 0] [--hierarchy 0]
//
// Several instances and solvers: separated by blanks. One CSV row for each of their combinations with a
// number of threads. The graph is in memory before any clock starts; solve_* is all of solve(), the problem's
// check and the sum of weights included; match_* is the matching alone (stats.seconds "match"): for
// greedy-proposal and Algorithm 1 without building the columns' lists ("lists"), which general graphs do not
// need. device_median_s is the time between events on the device, 0 without one. Certificates are checked
// outside the timer: share is the weight over the certificate's upper bound. --rounds 1 adds a line
// "#round,instance,solver,round,pairs" for each round of the last run. --space device puts the graph and its
// weights into device memory first. --coarsen 1 times one level of coarsen too (coarsen_median_s).
// --hierarchy N adds a line "#hierarchy,instance,solver,levels,vertices,all_median_s,coarsest_median_s":
// graphs coarsened to N vertices, with all levels brought to the host (coarsen_to) and with the last one
// (coarsest_of).

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/gpu/device.h>
#include <motes/matching/coarsen.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify_greedy.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

double seconds_of(const matching::GreedyStats& stats, const char* step) {
  const auto found = stats.seconds.find(step);
  return found == stats.seconds.end() ? 0 : found->second;
}

/// A weighted graph in device memory.
class DeviceGreedy {
 public:
  explicit DeviceGreedy(const matching::GreedyProblem& host)
      : row_offsets_(host.graph.row_offsets), col_index_(host.graph.col_index), view_(host) {
    view_.graph.row_offsets = row_offsets_.span();
    view_.graph.col_index = col_index_.span();
    if (const auto floats = std::get<std::span<const float>>(host.weights); !floats.empty()) {
      weights_ = gpu::DeviceArray<float>(floats);
      view_.weights = weights_.span();
    }
    view_.space = matching::Space::device;
  }
  const matching::GreedyProblem& view() const { return view_; }

 private:
  gpu::DeviceArray<matching::Offset> row_offsets_;
  gpu::DeviceArray<matching::Index> col_index_;
  gpu::DeviceArray<float> weights_;
  matching::GreedyProblem view_;
};

struct Settings {
  int repeats;
  bool verify, rounds, coarsen;
  matching::Index hierarchy;
  Backend backend;
  bool on_device;
};

struct Run {
  std::string instance, solver;
  int threads;
};

void measure_hierarchy(const Settings& settings, const matching::GreedyProblem& there, const Run& run,
                       const matching::GreedySolver& solver, const Execution& execution) {
  matching::CoarsenSettings end;
  end.vertices = settings.hierarchy;
  std::vector<double> all, last;
  matching::Coarsest coarsest;
  for (int k = 0; k < settings.repeats; ++k) {
    all.push_back(bench::timed([&] { (void)coarsen_to(execution, there, solver, end.vertices); }));
    last.push_back(bench::timed([&] { coarsest = coarsest_of(execution, there, solver, end); }));
  }
  std::printf("#hierarchy,%s,%s,%zu,%d,%.6f,%.6f\n", run.instance.c_str(), run.solver.c_str(),
              coarsest.levels.size(), coarsest.graph.graph.rows, bench::median(all), bench::median(last));
}

void measure(const Settings& settings, const matching::GreedyProblem& problem,
             const matching::GreedyProblem& there, const Run& run) {
  const auto solver = matching::make_greedy_solver(run.solver);
  Workspace workspace;
  Execution execution;
  execution.threads = run.threads;
  execution.backend = settings.backend;
  execution.workspace = &workspace;
  std::vector<double> solve, match, device, coarsen;
  matching::GreedyAnswer answer;
  for (int k = 0; k < settings.repeats; ++k) {
    solve.push_back(bench::timed([&] { answer = solver->solve(execution, there); }));
    match.push_back(seconds_of(answer.stats, "match") - seconds_of(answer.stats, "lists"));
    device.push_back(seconds_of(answer.stats, "device"));
    if (settings.coarsen)
      coarsen.push_back(
          bench::timed([&] { (void)matching::coarsen(execution, there, answer.matching.row_to_col); }));
  }
  const char* certified = "unchecked";
  double share = 0;
  if (settings.verify) {
    const auto certificate = matching::verify(problem, answer.matching, run.threads);
    const bool sorted = matching::find_solver(matching::split_solver_name(run.solver).first)->guarantee !=
                        matching::Guarantee::maximal;
    const bool good = certificate.matching_valid && certificate.maximal && (certificate.dominant || !sorted);
    certified = !good ? "NO" : certificate.dominant ? "dominant" : "maximal";
    if (!good) std::fprintf(stderr, "%s\n", certificate.fault.c_str());
    if (certificate.upper_bound > 0) share = certificate.weight / certificate.upper_bound;
  }
  std::printf(
      "%s,%s,%s,%s,%d,%d,%lld,%lld,%lld,%.17g,%.6f,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%lld,%lld,%lld\n",
      run.instance.c_str(), run.solver.c_str(),
      problem.kind == matching::GraphKind::general ? "general" : "bipartite",
      settings.backend == Backend::cuda ? "cuda" : "cpu", run.threads, settings.repeats,
      static_cast<long long>(problem.vertices()), static_cast<long long>(problem.graph.edges()),
      static_cast<long long>(answer.matching.cardinality), answer.matching.objective, share, certified,
      bench::median(solve), bench::median(match), *std::min_element(match.begin(), match.end()),
      *std::max_element(match.begin(), match.end()), seconds_of(answer.stats, "check"), bench::median(device),
      bench::median(coarsen), static_cast<long long>(answer.stats.rounds),
      static_cast<long long>(answer.stats.proposals), static_cast<long long>(answer.stats.arcs_scanned));
  if (settings.rounds)
    for (std::size_t round = 0; round < answer.stats.matched.size(); ++round)
      std::printf("#round,%s,%s,%zu,%lld\n", run.instance.c_str(), run.solver.c_str(), round,
                  static_cast<long long>(answer.stats.matched[round]));
  if (settings.hierarchy > 0) measure_hierarchy(settings, there, run, *solver, execution);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const Settings settings{static_cast<int>(arguments.number("repeats", 5)),
                          arguments.number("verify", 1) != 0,
                          arguments.number("rounds", 0) != 0,
                          arguments.number("coarsen", 0) != 0,
                          static_cast<matching::Index>(arguments.number("hierarchy", 0)),
                          arguments.text("backend").value_or("cpu") == "cuda" ? Backend::cuda : Backend::cpu,
                          arguments.text("space").value_or("host") == "device"};
  if (arguments.number("header", 1) != 0)
    std::puts(
        "instance,solver,kind,backend,threads,repeats,vertices,entries,pairs,weight,share,certified,solve_"
        "median_s,"
        "match_median_s,match_min_s,match_max_s,check_s,device_median_s,coarsen_median_s,rounds,proposals,"
        "arcs_scanned");
  bool failed = false;
  for (const std::string& instance : arguments.words("instance", "gen:gated?n=100000&degree=8")) {
    const auto graph = matching::generate_weighted_graph({}, instance);
    std::optional<DeviceGreedy> on_device;
    if (settings.on_device) on_device.emplace(graph.view());
    for (const std::string& solver : arguments.words("solver", "greedy-suitor"))
      for (const double threads : arguments.numbers("threads", {1})) try {
          measure(settings, graph.view(), on_device ? on_device->view() : graph.view(),
                  {instance, solver, static_cast<int>(threads)});
        } catch (const std::exception& error) {
          std::fprintf(stderr, "%s, %s: %s\n", instance.c_str(), solver.c_str(), error.what());
          failed = true;
        }
  }
  return failed ? 1 : 0;
}
