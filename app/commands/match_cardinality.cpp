/// motes match, the cardinality family: a maximum matching, with a vertex cover that proves it.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/io/problem_files.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/initialiser.h>
#include <motes/matching/instances.h>
#include <motes/matching/koenig.h>

#include "app/commands/match.h"
#include "app/options/nearest.h"
#include "app/report/report.h"

namespace motes::app {
namespace {

using matching::CardinalityProblem;
using nlohmann::ordered_json;

NamedSolver choose_cardinality(const MatchArguments& arguments, const Config& config,
                               const matching::BipartiteGraphView& graph) {
  return name_solver(
      arguments, config, matching::Family::cardinality, [&](Backend wanted, matching::Gpu gpu) {
        return matching::choose_cardinality_solver(graph, wanted, gpu, config.execution.threads);
      });
}

const matching::InitialiserInfo& named_initialiser(const MatchArguments& arguments,
                                                   const NamedSolver& solver) {
  const std::string otherwise = solver.backend == Backend::cuda ? "none"  // solvers on a GPU make their own
                                : !solver.init.empty()          ? solver.init
                                                                : "karp-sipser";
  const std::string name = arguments.init.empty() ? otherwise : arguments.init;
  const auto* info = matching::find_initialiser(name);
  if (info != nullptr) return *info;
  std::vector<std::string> names;
  for (const auto& known : matching::initialisers()) names.emplace_back(known.name);
  throw UsageError("--init: no initialiser is called '" + name + "'" +
                   did_you_mean(name, names, "; motes info lists them"));
}

ordered_json stats_json(const matching::CardinalityStats& stats, std::int64_t initial, double solve_s) {
  ordered_json json{{"initial_pairs", initial},
                    {"phases", stats.phases},
                    {"edges_traversed", stats.edges_traversed},
                    {"mteps", solve_s > 0 ? static_cast<double>(stats.edges_traversed) / solve_s * 1e-6 : 0},
                    {"augmentations", stats.augmentations},
                    {"mean_path_length",
                     stats.augmentations > 0 && stats.pushes == 0  // pushes are not counted as paths
                         ? static_cast<double>(stats.path_edges) / static_cast<double>(stats.augmentations)
                         : 0},
                    {"augmented", stats.augmented},
                    {"levels", stats.levels},
                    {"frontiers", stats.frontiers}};
  if (stats.pushes > 0 || stats.relabels > 0 || stats.global_relabels > 0) {
    json["pushes"] = stats.pushes;
    json["relabels"] = stats.relabels;
    json["global_relabels"] = stats.global_relabels;
  }
  json["seconds"] = stats.seconds;
  return json;
}

ordered_json parts_json(const matching::DulmageMendelsohn& parts) {
  const auto sizes = [&](matching::Part part) {
    return ordered_json{{"rows", std::count(parts.rows.begin(), parts.rows.end(), part)},
                        {"cols", std::count(parts.cols.begin(), parts.cols.end(), part)}};
  };
  return {{"horizontal", sizes(matching::Part::horizontal)},
          {"square", sizes(matching::Part::square)},
          {"vertical", sizes(matching::Part::vertical)}};
}

/// The result of --verify for the report; null if it was not requested.
struct CardinalityProof {
  ordered_json verified, cover, parts;
  std::string text;
  double seconds = 0;
};

CardinalityProof prove(const CardinalityProblem& problem, const matching::Matching& pairs, int threads,
                       Console& console) {
  CardinalityProof proof;
  const auto begin = std::chrono::steady_clock::now();
  const auto cover = matching::koenig_cover(problem, pairs);
  const auto certificate = matching::verify(problem, pairs, cover, threads);
  proof.verified = certificate.maximum();
  proof.cover = {{"rows", cover.rows.size()}, {"cols", cover.cols.size()}, {"size", cover.size()}};
  proof.text = certificate.maximum() ? ", proven by a cover of as many vertices" : ", NOT PROVEN";
  if (certificate.maximum())
    proof.parts = parts_json(matching::decompose(problem, pairs));
  else
    console.warn("the certificate of maximum cardinality fails: " + certificate.fault +
                 "; please report this");
  proof.seconds = seconds_since(begin);
  return proof;
}

}  // namespace

void refuse_assignment_options(const MatchArguments& arguments) {
  if (!arguments.unmatched.empty()) throw UsageError("--unmatched: only for assignment problems");
  if (!arguments.ties.empty()) throw UsageError("--ties: only for assignment problems");
}

void match_cardinality(Session& session, const MatchArguments& arguments) {
  const Config config = configure(session, "", true);
  const Execution cpu = execution_of(config);
  const int threads = thread_count(cpu);
  refuse_assignment_options(arguments);
  NamedSolver chosen = choose_cardinality(arguments, config,
                                          {});  // before a large file is read, so that errors appear at once
  auto solver = make_solver(chosen, matching::make_cardinality_solver);
  named_initialiser(arguments, chosen);

  const auto read_start = std::chrono::steady_clock::now();
  const matching::BipartiteGraph graph = matching::is_generated(arguments.instance)
                                             ? matching::generate_graph(cpu, arguments.instance)
                                             : io::read_graph(arguments.instance);
  const double read_s = seconds_since(read_start);
  if (arguments.solver == "auto") {
    chosen = choose_cardinality(arguments, config, graph.view());
    solver = make_solver(chosen, matching::make_cardinality_solver);
  }
  const auto& initialiser = named_initialiser(arguments, chosen);

  Execution execution = cpu;
  execution.backend = chosen.backend;
  // The transpose is computed once, for the initialiser and the solver.
  const auto init_start = std::chrono::steady_clock::now();
  const matching::Transposed columns = matching::transpose(graph.view(), threads);
  const CardinalityProblem problem{graph.view(), columns.col_offsets, columns.row_index};
  const auto start = initialiser.run(cpu, problem, 0);
  const double init_s = seconds_since(init_start);
  const auto solve_start = std::chrono::steady_clock::now();
  const matching::CardinalityAnswer answer = solver->solve(execution, problem, start);
  const double solve_s = seconds_since(solve_start);
  const matching::Matching& pairs = answer.matching;

  const CardinalityProof proof =
      arguments.verify ? prove(problem, pairs, threads, session.console) : CardinalityProof{};
  const bool on_gpu = chosen.backend == Backend::cuda;
  const double transfer_s = transfer_seconds(answer.stats.seconds);
  const auto initial = static_cast<std::int64_t>(start.size()) - std::count(start.begin(), start.end(), -1);

  ordered_json report = report_head("match");
  report["problem"] = "cardinality";
  report["instance"] = arguments.instance;
  report["rows"] = graph.rows;
  report["cols"] = graph.cols;
  report["edges"] = graph.edges();
  report["solver"] = chosen.info->name;
  report["options"] = matching::split_solver_name(arguments.solver).second;
  if (!chosen.reason.empty()) report["solver_reason"] = chosen.reason;
  report["init"] = initialiser.name;
  report_where(report, chosen.backend, threads);
  report["status"] = to_string(pairs.status);
  report["cardinality"] = pairs.cardinality;
  report["objective"] = pairs.objective;
  report["dual_objective"] = pairs.dual_objective;
  report["gap"] = pairs.gap;
  report["verified"] = proof.verified;
  report["cover"] = proof.cover;
  report["dulmage_mendelsohn"] = proof.parts;
  report["seconds"] = {{"total", init_s + solve_s}, {"init", init_s}, {"solve", solve_s - transfer_s},
                       {"transfer", transfer_s},    {"read", read_s}, {"verify", proof.seconds}};
  report["stats"] = stats_json(answer.stats, initial, solve_s);
  if (!arguments.matching.empty()) write_pairs(arguments.matching, pairs);
  emit_json(session, report);
  session.console.print(fmt::format(
      "{}: {} x {}, {} edges\n{} from {} on {}: {}{}\n{} pairs, {:.6f} s", arguments.instance, graph.rows,
      graph.cols, graph.edges(), chosen.info->name, initialiser.name, on_gpu ? "cuda" : "cpu",
      to_string(pairs.status), proof.text, pairs.cardinality, init_s + solve_s));
}

}  // namespace motes::app
