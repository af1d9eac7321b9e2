// Cardinality benchmark: generated graphs through solvers, initialisers and numbers of threads, certified.
//
//   bench_cardinality --instance 'gen:gated?n=1000000&degree=8' [--solver 'ms-bfs-graft pf?fairness=1']
//                     [--init karp-sipser] [--threads 1,2] [--repeats 5] [--verify 1] [--header 1]
//                     [--frontiers 0] [--backend cpu|cuda] [--space host|device] [--same-start 0] [--limit 0]
//                     [--enough 0] [--cpu-solver 'pf hk'] [--cpu-repeats 1] [--keep 1]
//
// Several instances, solvers and initialisers: separated by blanks. One CSV row for each of their
// combinations with a number of threads. The graph and its columns' side are in memory before any clock
// starts; init_s and solve_* are the medians of the initialiser and of the solver from its matching, checks
// of the graph included; sensitivity is the standard deviation of the solver's runs over their mean, in
// percent; mteps are edges traversed in a microsecond of solving. Certificates are checked outside the timer.
// Counters and step seconds are those of the last run. --frontiers 1 adds a line
// "#frontier,instance,solver,phase,level,rows" for each level. A solver that cannot solve an instance is
// reported on standard error and skipped. With --backend cuda initialisers without a CUDA form run on the
// CPU, and --init none leaves solvers to a start of their own. --space device puts the graph and its columns'
// side into device memory first; solve_* still hold the answer's way back, device_median_s (between events on
// the device, 0 without one) does not. --same-start 1 makes the start of an instance and initialiser once, on
// the most threads, for all solvers, threads and repeats. --cpu-solver names solvers that run on the CPU
// after the others, whose back end is the GPU; their numbers of threads are --threads, the others then have
// one. --keep 0: no working memory is kept from run to run, on the host or on a device. --limit S: a solver
// that took more than S seconds is not run again on that instance. --enough S: one that took S seconds in all
// is not repeated with that number of threads. `repeats` has how often it ran.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <motes/matching/device_graph.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/koenig.h>
#include <motes/matching/registry.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}
double deviation(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - middle) * (v - middle);
  return values.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(values.size() - 1));
}

/// The solver's own counters and step times, in one field, blanks between.
std::string counters(const matching::CardinalityStats& stats) {
  std::string text =
      "pushes=" + std::to_string(stats.pushes) + " relabels=" + std::to_string(stats.relabels) +
      " global_relabels=" + std::to_string(stats.global_relabels) +
      " levels=" + std::to_string(std::accumulate(stats.levels.begin(), stats.levels.end(), std::int64_t{0}));
  for (const auto& [name, seconds] : stats.seconds) {
    char item[64];
    std::snprintf(item, sizeof item, " %s=%.6f", name.c_str(), seconds);
    text += item;
  }
  return text;
}

struct Settings {
  bool verify, frontiers, same_start, keep;
  double limit, enough;
  bool on_device;
};

struct Run {
  const std::string &instance, &solver, &init;
  int threads;
  Backend backend;
  int repeats;
};

struct Start {
  std::vector<matching::Index> row_to_col;
  double seconds = 0;
};

/// `problem` lies on the host, `there` where solvers are to find it. A start that is given is taken. False:
/// the limit is passed.
bool measure(const Settings& settings, const matching::CardinalityProblem& problem,
             const matching::CardinalityProblem& there, const Run& run, const Start* given) {
  const auto* initialiser = matching::find_initialiser(run.init);
  if (initialiser == nullptr) throw std::invalid_argument("no initialiser '" + run.init + "'");
  const auto solver = matching::make_cardinality_solver(run.solver);
  Execution execution;
  Workspace workspace;
  execution.threads = run.threads;
  execution.backend = run.backend;
  if (settings.keep) execution.workspace = &workspace;
  const bool init_there = initialiser->backends.contains(Backend::cuda);
  std::vector<double> init_seconds, solve_seconds, device_seconds;
  matching::CardinalityAnswer answer;
  std::vector<matching::Index> start;
  const auto within = [&] {
    return solve_seconds.empty() || settings.limit <= 0 || solve_seconds.back() <= settings.limit;
  };
  const auto enough = [&] {
    return settings.enough > 0 &&
           std::accumulate(solve_seconds.begin(), solve_seconds.end(), 0.0) >= settings.enough;
  };
  if (given != nullptr) start = given->row_to_col;
  for (int k = 0; k < run.repeats && within() && !enough(); ++k) {
    init_seconds.push_back(given != nullptr ? given->seconds : bench::timed([&] {
      start = initialiser->run(execution, init_there ? there : problem, 0);
    }));
    solve_seconds.push_back(bench::timed([&] { answer = solver->solve(execution, there, start); }));
    const auto device = answer.stats.seconds.find("device");
    device_seconds.push_back(device == answer.stats.seconds.end() ? 0 : device->second);
  }
  const char* certified = "unchecked";
  if (settings.verify) {
    const auto cover = matching::koenig_cover(problem, answer.matching);
    const auto certificate = matching::verify(problem, answer.matching, cover);
    certified = certificate.maximum() ? "yes" : "NO";
    if (!certificate.maximum()) std::fprintf(stderr, "%s\n", certificate.fault.c_str());
  }
  const auto& stats = answer.stats;
  const auto initial = problem.graph.rows - std::count(start.begin(), start.end(), matching::Index{-1});
  std::printf(
      "%s,%s,%s,%d,%d,%d,%d,%lld,%lld,%lld,%s,%.6f,%.6f,%.6f,%.6f,%.2f,%lld,%lld,%.3f,%lld,%.2f,%.6f,%s,%s\n",
      run.instance.c_str(), run.solver.c_str(), run.init.c_str(), run.threads,
      static_cast<int>(solve_seconds.size()), problem.graph.rows, problem.graph.cols,
      static_cast<long long>(problem.graph.edges()), static_cast<long long>(initial),
      static_cast<long long>(answer.matching.cardinality), certified, bench::median(init_seconds),
      bench::median(solve_seconds), *std::min_element(solve_seconds.begin(), solve_seconds.end()),
      *std::max_element(solve_seconds.begin(), solve_seconds.end()),
      100 * deviation(solve_seconds) / mean(solve_seconds), static_cast<long long>(stats.phases),
      static_cast<long long>(stats.augmentations),
      stats.augmentations > 0 && stats.pushes == 0  // pushes are not counted as paths
          ? static_cast<double>(stats.path_edges) / static_cast<double>(stats.augmentations)
          : 0,
      static_cast<long long>(stats.edges_traversed),
      static_cast<double>(stats.edges_traversed) / bench::median(solve_seconds) * 1e-6,
      bench::median(device_seconds), counters(stats).c_str(), run.backend == Backend::cuda ? "cuda" : "cpu");
  if (settings.frontiers)
    for (std::size_t phase = 0; phase < stats.frontiers.size(); ++phase)
      for (std::size_t level = 0; level < stats.frontiers[phase].size(); ++level)
        std::printf("#frontier,%s,%s,%zu,%zu,%lld\n", run.instance.c_str(), run.solver.c_str(), phase, level,
                    static_cast<long long>(stats.frontiers[phase][level]));
  std::fflush(stdout);
  return within();
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const Settings settings{arguments.number("verify", 1) != 0,
                          arguments.number("frontiers", 0) != 0,
                          arguments.number("same-start", 0) != 0,
                          arguments.number("keep", 1) != 0,
                          arguments.number("limit", 0),
                          arguments.number("enough", 0),
                          arguments.text("space").value_or("host") == "device"};
  const auto backend = arguments.text("backend").value_or("cpu") == "cuda" ? Backend::cuda : Backend::cpu;
  const auto solvers = arguments.words("solver", "ms-bfs-graft");
  const auto cpu_solvers = arguments.words("cpu-solver", "");
  const auto inits = arguments.words("init", "karp-sipser");
  const std::vector<double> counts = arguments.numbers("threads", {1});
  const int repeats = static_cast<int>(arguments.number("repeats", 5));
  const int cpu_repeats = static_cast<int>(arguments.number("cpu-repeats", 1));
  if (arguments.number("header", 1) != 0)
    std::puts(
        "instance,solver,init,threads,repeats,rows,cols,edges,initial_pairs,pairs,certified,init_s,solve_"
        "median_s,solve_min_s,solve_max_s,sensitivity_percent,phases,augmentations,mean_path_edges,edges_"
        "traversed,mteps,device_median_s,counters,backend");
  bool failed = false;
  for (const std::string& instance : arguments.words("instance", "gen:gated?n=100000&degree=8")) {
    const auto graph = matching::generate_graph({}, instance);
    const auto columns = matching::transpose(graph.view(), 1);
    const matching::CardinalityProblem problem{graph.view(), columns.col_offsets, columns.row_index};
    std::optional<matching::DeviceGraph> on_device;
    if (settings.on_device) on_device.emplace(problem);
    const matching::CardinalityProblem& there = on_device ? on_device->view() : problem;
    std::map<std::string, Start> starts;
    const auto start_of = [&](const std::string& init) -> const Start* {
      const auto* initialiser = matching::find_initialiser(init);
      if (!settings.same_start || initialiser == nullptr) return nullptr;
      const auto [place, fresh] = starts.try_emplace(init);
      Start& start = place->second;
      const Execution all{static_cast<int>(*std::max_element(counts.begin(), counts.end()))};
      if (fresh) start.seconds = bench::timed([&] { start.row_to_col = initialiser->run(all, problem, 0); });
      return &start;
    };
    const auto run_all = [&](const std::vector<std::string>& names, Backend where,
                             const std::vector<double>& threads, int times) {
      const auto& seen = where == Backend::cuda ? there : problem;
      for (const std::string& solver : names)
        for (const std::string& init : inits)
          for (const double count : threads) try {
              const Run run{instance, solver, init, static_cast<int>(count), where, times};
              if (!measure(settings, problem, seen, run, start_of(init))) break;
            } catch (const std::exception& error) {
              std::fprintf(stderr, "%s, %s: %s\n", instance.c_str(), solver.c_str(), error.what());
              failed = true;
            }
    };
    run_all(solvers, backend, backend == Backend::cuda ? std::vector<double>{1} : counts, repeats);
    run_all(cpu_solvers, Backend::cpu, counts, cpu_repeats);
  }
  return failed ? 1 : 0;
}
