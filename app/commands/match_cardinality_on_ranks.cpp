/// motes match, the cardinality family on several ranks: each has some rows of the graph.

#include <chrono>
#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/io/atomic_file.h>
#include <motes/io/problem_files.h>
#include <motes/matching/distributed_cardinality.h>
#include <motes/matching/instances.h>

#include "app/commands/match.h"
#include "app/report/report.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

/// Throws UsageError for options that several ranks do not support.
void require_form_on_ranks(const MatchArguments& arguments, const Config& config) {
  refuse_assignment_options(arguments);
  if (config.execution.backend == Backend::cuda)
    throw UsageError("--backend: cardinality problems on several ranks (mpirun) need cpu");
  if (!arguments.init.empty()) throw UsageError("--init: not available on several ranks (mpirun)");
  if (arguments.solver == "auto") return;
  const matching::SolverInfo& info = named_solver(arguments, matching::Family::cardinality);
  if (!matching::cardinality_runs_on_ranks(info.name))
    throw UsageError("--solver: " + std::string(info.name) +
                     " has no form for several ranks (mpirun); use ms-bfs-graft");
  if (info.name != arguments.solver)
    throw UsageError("--solver: on several ranks (mpirun) " + std::string(info.name) + " has no options");
}

matching::DistributedGraph read_part(const MatchArguments& arguments, const Execution& cpu,
                                     Communicator& ranks) {
  if (matching::is_generated(arguments.instance))
    return matching::generate_distributed_graph(ranks, cpu, arguments.instance);
  matching::DistributedGraph out;
  ranks.agreed([&] { out = matching::distribute(ranks, io::read_graph(arguments.instance).view()); });
  return out;
}

/// As write_pairs(), but rank by rank, so that no rank needs memory for all pairs.
void write_distributed_pairs(const std::string& path, const matching::DistributedGraph& graph,
                             const matching::DistributedMatching& answer, Communicator& ranks) {
  std::string text = ranks.rank() == 0 ? "row,col\n" : "";
  for (std::size_t k = 0; k < answer.row_to_col.size(); ++k)
    if (const matching::Index j = answer.row_to_col[k]; j != -1)
      text += fmt::format("{},{}\n", graph.my_rows.first + static_cast<matching::Index>(k), j);
  std::optional<io::AtomicFile> file;
  std::ofstream out;
  ranks.agreed([&] {
    if (ranks.rank() > 0) return;
    file.emplace(path);
    out.open(file->path(), std::ios::binary);
  });
  std::exception_ptr failure;
  try {
    ranks.collect(text, [&](int, std::string_view bytes) {
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    });
  } catch (...) {
    failure = std::current_exception();
  }
  ranks.agreed([&] {
    if (failure != nullptr) std::rethrow_exception(failure);
    if (ranks.rank() > 0) return;
    out.close();
    if (!out) throw ResourceError(path + ": cannot be written; is the disk full?");
    file->commit();
  });
}

ordered_json stats_json(const matching::DistributedMatching& answer, const Communicator::Traffic& traffic) {
  const auto& stats = answer.stats;
  return {{"local_pairs", answer.local_pairs},
          {"initial_pairs", answer.initial_pairs},
          {"phases", stats.phases},
          {"edges_traversed", stats.edges_traversed},
          {"augmentations", stats.augmentations},
          {"augmented", stats.augmented},
          {"rounds", stats.levels},
          {"pushes", stats.pushes},
          {"global_relabels", stats.global_relabels},
          {"messages", traffic.calls},
          {"bytes_sent", traffic.bytes},
          {"seconds", stats.seconds}};
}

}  // namespace

void match_cardinality_on_ranks(Session& session, const MatchArguments& arguments, Communicator& ranks) {
  Execution cpu;
  ranks.agreed([&] {
    const Config config = configure(session, "", true);
    cpu = share_of_threads(config);
    require_form_on_ranks(arguments, config);
  });
  const auto read_start = std::chrono::steady_clock::now();
  const matching::DistributedGraph graph = read_part(arguments, cpu, ranks);
  const std::int64_t edges = ranks.all_reduce(graph.part.edges(), Reduction::sum);
  const double read_s = seconds_since(read_start);
  const Communicator::Traffic before = ranks.traffic();
  const auto solve_start = std::chrono::steady_clock::now();
  const matching::DistributedMatching answer = matching::solve_distributed(ranks, graph);
  const double solve_s = seconds_since(solve_start);
  Communicator::Traffic traffic = ranks.traffic();
  traffic.calls -= before.calls;
  traffic.bytes = ranks.all_reduce(traffic.bytes - before.bytes, Reduction::sum);

  ordered_json verified;
  double verify_s = 0;
  std::string proof_text;
  if (arguments.verify) {
    const auto verify_start = std::chrono::steady_clock::now();
    const auto certificate = matching::verify_distributed(ranks, graph, answer);
    verify_s = seconds_since(verify_start);
    verified = certificate.maximum();
    proof_text = certificate.maximum() ? ", proven by a cover of as many vertices" : ", NOT PROVEN";
    if (!certificate.maximum() && ranks.rank() == 0)
      session.console.warn("the certificate of maximum cardinality fails: " + certificate.fault +
                           "; please report this");
  }
  if (!arguments.matching.empty()) write_distributed_pairs(arguments.matching, graph, answer, ranks);
  ordered_json report = report_head("match");
  report["problem"] = "cardinality";
  report["instance"] = arguments.instance;
  report["rows"] = graph.rows;
  report["cols"] = graph.cols;
  report["edges"] = edges;
  report["solver"] = arguments.solver == "auto" ? "ms-bfs-graft" : arguments.solver;
  report_where(report, Backend::cpu, 1);
  report["ranks"] = ranks.size();
  report["status"] = "optimal";
  report["cardinality"] = answer.cardinality;
  report["objective"] = answer.cardinality;
  report["dual_objective"] = answer.cardinality;
  report["gap"] = 0;
  report["verified"] = verified;
  report["seconds"] = {{"total", solve_s}, {"init", 0.0},    {"solve", solve_s},
                       {"transfer", 0.0},  {"read", read_s}, {"verify", verify_s}};
  report["stats"] = stats_json(answer, traffic);
  ranks.agreed([&] {
    if (ranks.rank() == 0) emit_json(session, report);
  });
  session.console.print(
      fmt::format("{}: {} x {}, {} edges\n{} on cpu, {} ranks: optimal{}\n{} pairs, {:.6f} s",
                  arguments.instance, graph.rows, graph.cols, edges, report["solver"].get<std::string>(),
                  ranks.size(), proof_text, answer.cardinality, solve_s));
}

}  // namespace motes::app
