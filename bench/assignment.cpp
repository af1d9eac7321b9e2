// Assignment benchmark: any generated instance through any solver, certified.
//
//   bench_assignment --instance 'gen:uniform?rows=5000&cols=5000&high=5000' [--solver jv]
//                    [--backend cpu|cuda|auto] [--space host|device] [--threads 0] [--repeats 5] [--seeds 1]
//                    [--verify 1] [--header 1]
//
// Several instances: separated by spaces. Solver auto is what choose_solver picks, and then on its back end.
// --seeds K solves seeds 1..K of each and pools the times. `space device` puts the costs on the GPU before
// the clock starts; else the solver copies them, and transfer_s says how long that took. One warm-up run,
// with the memory it leaves behind (Workspace), comes before the timed ones. Certificates are checked outside
// the timer. One CSV row for each instance and solver; `assignments` are the pairs matched initially and then
// in each iteration, `stages` the solver's counters and stage seconds, both of the last run. --repeats 0 with
// --dump FILE only writes the matrix, as raw doubles.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <motes/base/communicator.h>
#include <motes/base/gpu/device.h>
#include <motes/matching/device_costs.h>
#include <motes/matching/distributed.h>
#include <motes/matching/instances.h>
#include <motes/matching/registry.h>
#include <motes/matching/verify.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

/// Raw doubles, row-major: what the peers' script reads.
void dump(const matching::CostsView& problem, const std::string& path) {
  const auto* dense = std::get_if<matching::DenseCostsView>(&problem);
  if (dense == nullptr) throw std::invalid_argument("--dump is for full matrices");
  std::ofstream out(path, std::ios::binary);
  std::visit(
      [&](const auto* data) {
        std::vector<double> row(static_cast<std::size_t>(dense->cols));
        for (matching::Offset i = 0; i < dense->rows; ++i) {
          std::copy_n(data + i * dense->row_stride, dense->cols, row.begin());
          out.write(reinterpret_cast<const char*>(row.data()),
                    static_cast<std::streamsize>(row.size() * sizeof(double)));
        }
      },
      dense->data);
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The solver's own counters and stage times, in one field each, blanks between.
std::string counters(const matching::Stats& stats) {
  std::string text = "phases=" + std::to_string(stats.phases) + " rounds=" + std::to_string(stats.rounds) +
                     " augmentations=" + std::to_string(stats.augmentations);
  for (const auto& [name, seconds] : stats.seconds) {
    char item[64];
    std::snprintf(item, sizeof item, " %s=%.6f", name.c_str(), seconds);
    text += item;
  }
  return text;
}
std::string gains(const matching::Stats& stats) {
  std::string text = std::to_string(stats.initial_assignments);
  for (const auto gained : stats.assignments) text += " " + std::to_string(gained);
  return text;
}

/// What the options ask of a run on ranks.
struct RankRun {
  std::vector<std::string> instances, solvers;
  int repeats = 5, threads = 1;
  Backend backend = Backend::cpu;
  bool header = true, on_device = false;
};

/// All ranks of a run; rank 0 prints the rows.
void run_on_ranks(Communicator& ranks, const RankRun& run) {
  const bool speaks = ranks.rank() == 0;
  if (speaks && run.header)
    std::puts(
        "instance,repeats,rows,cols,solver,backend,ranks,threads,seconds_median,seconds_min,seconds_max,"
        "transfer_s,objective,certified,messages,bytes_sent,stages");
  Workspace workspace;
  Execution execution;
  execution.threads = run.threads;
  execution.backend = run.backend;
  execution.workspace = &workspace;
  for (const std::string& instance : run.instances) {
    for (const std::string& solver : run.solvers) {
      matching::DistributedCosts distributed;
      int bits = 0;
      ranks.agreed([&] {
        distributed = matching::distribute_generated(ranks, {run.threads}, solver, instance);
        bits = fraction_bits_of(matching::view_of(distributed.part));
      });
      std::optional<matching::DeviceCosts> copy;
      if (run.on_device) {
        ranks.agreed([&] {
          copy.emplace(matching::view_of(distributed.part),
                       launched().size > 1 ? launched().local_rank : ranks.rank());
        });
        if (const auto* matrix = std::get_if<matching::DenseCostsView>(&copy->view()))
          distributed.on_device = *matrix;
      }
      std::vector<double> seconds, transfers;
      matching::Matching answer;
      for (int k = 0; k <= run.repeats; ++k) {  // the first warms up
        ranks.all_reduce(0, Reduction::sum);
        const auto start = std::chrono::steady_clock::now();
        answer = matching::solve_distributed(ranks, execution, solver, distributed);
        const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto moved = answer.stats.seconds.find("transfer");
        transfers.push_back(moved == answer.stats.seconds.end() ? 0 : moved->second);
        if (k > 0) seconds.push_back(all - transfers.back());
      }
      const auto proof = matching::verify_distributed(ranks, execution, distributed, answer);
      if (!speaks) continue;
      std::printf(
          "%s,%d,%d,%d,%s,%s,%d,%d,%.6f,%.6f,%.6f,%.6f,%.9g,%s,%lld,%lld,%s\n", instance.c_str(), run.repeats,
          distributed.rows, distributed.cols, solver.c_str(), run.backend == Backend::cuda ? "cuda" : "cpu",
          ranks.size(), run.threads, quantile(seconds, 0.5), quantile(seconds, 0), quantile(seconds, 1),
          quantile(transfers, 0.5), std::ldexp(answer.objective, -bits),
          proof.optimal() && proof.gap == 0 ? "yes" : "NO", static_cast<long long>(answer.stats.messages),
          static_cast<long long>(answer.stats.bytes_sent), counters(answer.stats).c_str());
      std::fflush(stdout);
    }
  }
}

/// A run on ranks: those of a launcher, or threads of this process. Returns the exit code.
int run_ranks(const bench::Arguments& arguments, int ranks, Backend backend) {
  const int size = std::max(ranks, launched().size);
  const RankRun run{arguments.words("instance", "gen:uniform?rows=1000&high=1000"),
                    arguments.words("solver", "hungarian hungarian-tree"),
                    std::max(1, static_cast<int>(arguments.number("repeats", 5))),
                    static_cast<int>(arguments.number("threads", std::max(1, thread_count({}) / size))),
                    backend,
                    arguments.number("header", 1) != 0,
                    arguments.text("space").value_or("host") == "device"};
  try {
    if (launched().size > 1)
      run_on_ranks(world(), run);
    else
      run_as_threads(ranks, [&](Communicator& all) { run_on_ranks(all, run); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (launched().size > 1 && !world().has_agreed_error()) world().abort(4);
    leave_world();
    return 4;
  }
  leave_world();
  return 0;
}

/// What the options ask of a run in this process.
struct Run {
  int repeats = 5, seeds = 1;
  bool verify = true, on_device = false;
  matching::Gpu gpu = matching::Gpu::none;
  std::optional<std::string> dump;
  Execution execution;
};

/// One instance through one solver, all seeds.
struct Measured {
  matching::AutoChoice choice;
  std::vector<double> seconds;
  double transfer = 0, objective = 0;
  int certified = 0, answers = 0;
  matching::Index rows = 0, cols = 0;
  matching::Stats last;
};

void measure_seed(const Run& run, const std::string& text, bool warm_up, const std::string& solver_name,
                  Measured& out) {
  const matching::Costs costs = matching::generate_assignment({}, text);
  const auto host = matching::view_of(costs);
  out.rows = rows_of(host), out.cols = cols_of(host);
  if (run.dump) dump(host, *run.dump);
  if (run.repeats == 0) return;
  std::optional<matching::DeviceCosts> copy;
  if (run.on_device) copy.emplace(host);
  const auto& problem = run.on_device ? copy->view() : host;
  if (solver_name == "auto") out.choice = matching::choose_solver(problem, run.execution.backend, run.gpu);
  Execution mine = run.execution;
  mine.backend = out.choice.backend;
  const auto solver = out.choice.info->make();
  matching::Matching answer;
  if (warm_up) answer = solver->solve(mine, problem);
  for (int k = 0; k < run.repeats; ++k) {
    const auto start = std::chrono::steady_clock::now();
    answer = solver->solve(mine, problem);
    out.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  const auto moved = answer.stats.seconds.find("transfer");
  if (moved != answer.stats.seconds.end()) out.transfer = moved->second;
  out.objective = std::ldexp(answer.objective, -fraction_bits_of(host));
  ++out.answers;
  if (run.verify) {
    const auto certificate = matching::verify(mine, problem, answer);
    out.certified += certificate.optimal() && certificate.gap == 0;
    if (!certificate.optimal()) std::fprintf(stderr, "%s: %s\n", text.c_str(), certificate.fault.c_str());
  }
  out.last = answer.stats;
}

void print_row(const Run& run, const std::string& instance, const Measured& m) {
  std::printf("%s,%d,%d,%d,%d,%s,%s,%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f,%.9g,%s,%s,%s\n", instance.c_str(),
              run.seeds, run.repeats, m.rows, m.cols, std::string(m.choice.info->name).c_str(),
              m.choice.backend == Backend::cuda ? "cuda" : "cpu", run.on_device ? "device" : "host",
              run.execution.threads, quantile(m.seconds, 0.5), mean(m.seconds), quantile(m.seconds, 0),
              quantile(m.seconds, 1), m.transfer, m.objective,
              !run.verify                ? "unchecked"
              : m.certified == m.answers ? "yes"
                                         : "NO",
              gains(m.last).c_str(), counters(m.last).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const std::string backend = arguments.text("backend").value_or("cpu");
  if (const auto ranks = static_cast<int>(arguments.number("ranks", 0)); ranks > 0 || launched().size > 1)
    return run_ranks(arguments, ranks, backend == "cuda" ? Backend::cuda : Backend::cpu);
  Workspace workspace;
  Run run;
  run.repeats = static_cast<int>(arguments.number("repeats", 5));
  run.seeds = static_cast<int>(arguments.number("seeds", 1));
  run.verify = arguments.number("verify", 1) != 0;
  run.on_device = arguments.text("space").value_or("host") == "device";
  run.dump = arguments.text("dump");
  run.execution.threads = static_cast<int>(arguments.number("threads", 0));
  run.execution.backend = backend == "cuda"   ? Backend::cuda
                          : backend == "auto" ? Backend::automatic
                                              : Backend::cpu;
  run.execution.workspace = &workspace;
  if (backend != "cpu" && !gpu::list_devices().devices.empty()) run.gpu = matching::Gpu::started;
  if (arguments.number("header", 1) != 0)
    std::puts(
        "instance,seeds,repeats,rows,cols,solver,backend,space,threads,seconds_median,seconds_mean,seconds_"
        "min,seconds_max,transfer_s,objective,certified,assignments,stages");
  for (const std::string& instance : arguments.words("instance", "gen:uniform?rows=1000&high=1000")) {
    for (const std::string& name : arguments.words("solver", "jv")) {
      const matching::SolverInfo* info = matching::find_solver(name);
      if (name != "auto" && (info == nullptr || info->family() != matching::Family::assignment)) {
        std::fprintf(stderr, "no assignment solver '%s'\n", name.c_str());
        return 2;
      }
      Measured measured;
      measured.choice = {info, run.execution.backend, ""};
      try {
        for (int seed = 1; seed <= run.seeds; ++seed)
          measure_seed(run, run.seeds > 1 ? instance + "&seed=" + std::to_string(seed) : instance, seed == 1,
                       name, measured);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s with %s: %s\n", instance.c_str(), name.c_str(), error.what());
        continue;
      }
      if (!measured.seconds.empty()) print_row(run, instance, measured);
    }
  }
  return 0;
}
