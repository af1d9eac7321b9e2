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
  bool header = true;
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
      matching::DealtCosts dealt;
      int bits = 0;
      ranks.agreed([&] {
        matching::Costs costs = matching::generate_assignment({run.threads}, instance);
        bits = fraction_bits_of(matching::view_of(costs));
        const auto split = matching::split_of(solver, matching::view_of(costs));
        dealt = matching::deal(ranks, split, std::move(costs));
      });
      std::vector<double> seconds, transfers;
      matching::Matching answer;
      for (int k = 0; k <= run.repeats; ++k) {  // the first warms up
        ranks.all_reduce(0, Reduction::sum);
        const auto start = std::chrono::steady_clock::now();
        answer = matching::solve_dealt(ranks, execution, solver, dealt);
        const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto moved = answer.stats.seconds.find("transfer");
        transfers.push_back(moved == answer.stats.seconds.end() ? 0 : moved->second);
        if (k > 0) seconds.push_back(all - transfers.back());
      }
      const auto proof = matching::verify_dealt(ranks, execution, dealt, answer);
      if (!speaks) continue;
      std::printf(
          "%s,%d,%d,%d,%s,%s,%d,%d,%.6f,%.6f,%.6f,%.6f,%.9g,%s,%lld,%lld,%s\n", instance.c_str(), run.repeats,
          dealt.rows, dealt.cols, solver.c_str(), run.backend == Backend::cuda ? "cuda" : "cpu", ranks.size(),
          run.threads, quantile(seconds, 0.5), quantile(seconds, 0), quantile(seconds, 1),
          quantile(transfers, 0.5), std::ldexp(answer.objective, -bits),
          proof.optimal() && proof.gap == 0 ? "yes" : "NO", static_cast<long long>(answer.stats.messages),
          static_cast<long long>(answer.stats.bytes_sent), counters(answer.stats).c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const auto repeats = static_cast<int>(arguments.number("repeats", 5));
  const auto seeds = static_cast<int>(arguments.number("seeds", 1));
  const bool verify = arguments.number("verify", 1) != 0, header = arguments.number("header", 1) != 0;
  const bool on_device = arguments.text("space").value_or("host") == "device";
  const std::string backend = arguments.text("backend").value_or("cpu");
  if (const auto ranks = static_cast<int>(arguments.number("ranks", 0)); ranks > 0 || launched().size > 1) {
    const int size = std::max(ranks, launched().size);
    const RankRun run{arguments.words("instance", "gen:uniform?rows=1000&high=1000"),
                      arguments.words("solver", "hungarian hungarian-tree"),
                      std::max(1, repeats),
                      static_cast<int>(arguments.number("threads", std::max(1, thread_count({}) / size))),
                      backend == "cuda" ? Backend::cuda : Backend::cpu,
                      header};
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
  Workspace workspace;
  Execution execution;
  execution.threads = static_cast<int>(arguments.number("threads", 0));
  execution.backend = backend == "cuda"   ? Backend::cuda
                      : backend == "auto" ? Backend::automatic
                                          : Backend::cpu;
  const bool gpu_there = backend != "cpu" && !gpu::list_devices().devices.empty();
  execution.workspace = &workspace;
  if (header)
    std::puts(
        "instance,seeds,repeats,rows,cols,solver,backend,space,threads,seconds_median,seconds_mean,seconds_"
        "min,"
        "seconds_max,transfer_s,objective,certified,assignments,stages");
  for (const std::string& instance : arguments.words("instance", "gen:uniform?rows=1000&high=1000")) {
    for (const std::string& name : arguments.words("solver", "jv")) {
      const matching::SolverInfo* info = matching::find_solver(name);
      if (name != "auto" && (info == nullptr || info->family() != matching::Family::assignment)) {
        std::fprintf(stderr, "no assignment solver '%s'\n", name.c_str());
        return 2;
      }
      matching::AutoChoice choice{matching::find_solver(name), execution.backend, ""};
      std::vector<double> seconds;
      double transfer = 0, objective = 0;
      int certified = 0, answers = 0;
      matching::Index rows = 0, cols = 0;
      matching::Stats last;
      try {
        for (int seed = 1; seed <= seeds; ++seed) {
          const std::string text = seeds > 1 ? instance + "&seed=" + std::to_string(seed) : instance;
          const matching::Costs costs = matching::generate_assignment({}, text);
          const auto host = matching::view_of(costs);
          rows = rows_of(host), cols = cols_of(host);
          if (const auto file = arguments.text("dump")) dump(host, *file);
          if (repeats == 0) continue;
          std::optional<matching::DeviceCosts> copy;
          if (on_device) copy.emplace(host);
          const auto& problem = on_device ? copy->view() : host;
          if (name == "auto") choice = matching::choose_solver(problem, execution.backend, gpu_there);
          Execution mine = execution;
          mine.backend = choice.backend;
          const auto solver = choice.info->make();
          matching::Matching answer;
          if (seed == 1) answer = solver->solve(mine, problem);  // warm-up
          for (int k = 0; k < repeats; ++k) {
            const auto start = std::chrono::steady_clock::now();
            answer = solver->solve(mine, problem);
            seconds.push_back(
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
          }
          const auto moved = answer.stats.seconds.find("transfer");
          if (moved != answer.stats.seconds.end()) transfer = moved->second;
          objective = std::ldexp(answer.objective, -fraction_bits_of(host));
          ++answers;
          if (verify) {
            const auto certificate = matching::verify(mine, problem, answer);
            certified += certificate.optimal() && certificate.gap == 0;
            if (!certificate.optimal())
              std::fprintf(stderr, "%s: %s\n", text.c_str(), certificate.fault.c_str());
          }
          last = answer.stats;
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s with %s: %s\n", instance.c_str(), name.c_str(), error.what());
        continue;
      }
      if (seconds.empty()) continue;
      std::printf("%s,%d,%d,%d,%d,%s,%s,%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f,%.9g,%s,%s,%s\n", instance.c_str(),
                  seeds, repeats, rows, cols, std::string(choice.info->name).c_str(),
                  choice.backend == Backend::cuda ? "cuda" : "cpu", on_device ? "device" : "host",
                  execution.threads, quantile(seconds, 0.5), mean(seconds), quantile(seconds, 0),
                  quantile(seconds, 1), transfer, objective,
                  !verify                ? "unchecked"
                  : certified == answers ? "yes"
                                         : "NO",
                  gains(last).c_str(), counters(last).c_str());
      std::fflush(stdout);
    }
  }
  return 0;
}
