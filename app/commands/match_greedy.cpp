/// motes match, the greedy family: a maximal matching of large weight with an upper bound on the weight, and
/// graph coarsening by such matchings.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/io/atomic_file.h>
#include <motes/io/problem_files.h>
#include <motes/matching/coarsen.h>
#include <motes/matching/graph_instances.h>
#include <motes/matching/instances.h>
#include <motes/matching/verify_greedy.h>

#include "app/commands/match.h"
#include "app/report/report.h"

namespace motes::app {
namespace {

using matching::GraphKind;
using matching::GreedyProblem;
using matching::Index;
using nlohmann::ordered_json;

NamedSolver choose_greedy(const MatchArguments& arguments, const Config& config,
                          const GreedyProblem& problem) {
  return name_solver(arguments, config, matching::Family::greedy, [&](Backend wanted, matching::Gpu gpu) {
    return matching::choose_greedy_solver(problem, wanted, gpu);
  });
}

void refuse_other_options(const MatchArguments& arguments) {
  if (!arguments.unmatched.empty()) throw UsageError("--unmatched: only for assignment problems");
  if (!arguments.ties.empty()) throw UsageError("--ties: only for assignment problems");
  if (!arguments.init.empty()) throw UsageError("--init: only for cardinality problems");
  if (arguments.coarsen == 0 &&
      !(arguments.coarse.empty() && arguments.coarse_map.empty() && arguments.coarsen_by.empty()))
    throw UsageError("--coarse, --coarse-map and --coarsen-by need --coarsen N");
}

/// Edges, each counted once, without loops.
std::int64_t edges_of(const GreedyProblem& problem) {
  if (problem.kind == GraphKind::bipartite) return problem.graph.edges();
  std::int64_t edges = 0;
  for (Index v = 0; v < problem.graph.rows; ++v)
    for (auto e = problem.graph.row_offsets[static_cast<std::size_t>(v)];
         e < problem.graph.row_offsets[static_cast<std::size_t>(v) + 1]; ++e)
      edges += problem.graph.col_index[static_cast<std::size_t>(e)] < v;
  return edges;
}

/// Each pair once; in general graphs in the row of the lower vertex.
matching::Matching pairs_of(const GreedyProblem& problem, const matching::Matching& answer) {
  matching::Matching pairs;
  pairs.row_to_col = answer.row_to_col;
  if (problem.kind == GraphKind::general)
    for (std::size_t v = 0; v < pairs.row_to_col.size(); ++v)
      if (pairs.row_to_col[v] < static_cast<Index>(v)) pairs.row_to_col[v] = -1;
  return pairs;
}

/// Writes the coarse vertex of each vertex of the finest graph; the vertex itself if `coarse_of` is empty.
void write_map(const std::string& path, Index vertices, const std::vector<Index>& coarse_of) {
  std::string text = "vertex,coarse\n";
  for (Index v = 0; v < vertices; ++v)
    text += fmt::format("{},{}\n", v, coarse_of.empty() ? v : coarse_of[static_cast<std::size_t>(v)]);
  io::write_text(path, text);
}

/// Coarsens the graph for --coarsen, writes the requested files, and returns the sizes of all levels.
ordered_json coarsen(const MatchArguments& arguments, const Execution& execution,
                     const GreedyProblem& problem, const matching::GreedySolver& solver) {
  const auto begin = std::chrono::steady_clock::now();
  matching::WeightedGraph room;
  GreedyProblem fine = problem;
  if (problem.kind == GraphKind::bipartite) {
    room = matching::to_general(problem, execution.threads);
    fine = room.view();
  }
  const auto by =
      arguments.coarsen_by == "density" ? matching::CoarsenBy::density : matching::CoarsenBy::weight;
  matching::CoarsenSettings settings;
  settings.vertices = static_cast<Index>(arguments.coarsen);
  settings.by = by;
  const matching::Coarsest end = matching::coarsest_of(execution, fine, solver, settings);
  const double seconds = seconds_since(begin);
  ordered_json json = {{"levels", ordered_json::array()}, {"seconds", seconds}};
  for (const auto& level : end.levels)
    json["levels"].push_back({{"vertices", level.vertices}, {"edges", level.entries / 2}});
  const GreedyProblem coarsest = end.levels.empty() ? fine : end.graph.view();
  if (!arguments.coarse.empty()) io::write_weighted_graph(arguments.coarse, coarsest);
  if (!arguments.coarse_map.empty()) write_map(arguments.coarse_map, fine.graph.rows, end.graph.coarse_of);
  json["vertices"] = coarsest.graph.rows;
  return json;
}

/// The result of --verify for the report; null if it was not requested.
struct GreedyProof {
  ordered_json verified, dominant, upper_bound, share, gap;
  std::string text;
  double seconds = 0;
};

GreedyProof prove(const GreedyProblem& problem, const matching::Matching& pairs, const NamedSolver& chosen,
                  int threads, Console& console) {
  GreedyProof proof;
  const auto begin = std::chrono::steady_clock::now();
  const auto certificate = matching::verify(problem, pairs, threads);
  proof.seconds = seconds_since(begin);
  const bool sorted = chosen.info->guarantee != matching::Guarantee::maximal;
  const bool good = certificate.matching_valid && certificate.maximal && (certificate.dominant || !sorted);
  proof.verified = good;
  proof.dominant = certificate.dominant;
  proof.upper_bound = certificate.upper_bound;
  proof.gap = certificate.upper_bound - certificate.weight;
  const double part = certificate.upper_bound > 0 ? certificate.weight / certificate.upper_bound : 1;
  proof.share = part;
  proof.text = good ? fmt::format(", maximal{}, at least {:.1f} % of the best weight",
                                  certificate.dominant ? " and dominant" : "", 100 * part)
                    : ", NOT PROVEN";
  if (!good)
    console.warn("the certificate of the greedy matching fails: " + certificate.fault +
                 "; please report this");
  return proof;
}

}  // namespace

void match_greedy(Session& session, const MatchArguments& arguments) {
  const Config config = configure(session, "", true);
  const Execution cpu = execution_of(config);
  const int threads = thread_count(cpu);
  refuse_other_options(arguments);
  NamedSolver chosen =
      choose_greedy(arguments, config, {});  // before a large file is read, so that errors appear at once
  auto solver = make_solver(chosen, matching::make_greedy_solver);

  const auto read_start = std::chrono::steady_clock::now();
  const matching::WeightedGraph graph = matching::is_generated(arguments.instance)
                                            ? matching::generate_weighted_graph(cpu, arguments.instance)
                                            : io::read_weighted_graph(arguments.instance);
  const double read_s = seconds_since(read_start);
  const GreedyProblem problem = graph.view();
  if (arguments.solver == "auto") {
    chosen = choose_greedy(arguments, config, problem);
    solver = make_solver(chosen, matching::make_greedy_solver);
  }

  Execution execution = cpu;
  execution.threads = threads;
  execution.backend = chosen.backend;
  const auto solve_start = std::chrono::steady_clock::now();
  const matching::GreedyAnswer answer = solver->solve(execution, problem);
  const double solve_s = seconds_since(solve_start);
  const matching::Matching& pairs = answer.matching;

  const GreedyProof proof =
      arguments.verify ? prove(problem, pairs, chosen, threads, session.console) : GreedyProof{};
  const bool on_gpu = chosen.backend == Backend::cuda;
  const double transfer_s = transfer_seconds(answer.stats.seconds);

  ordered_json report = report_head("match");
  report["problem"] = "greedy";
  report["instance"] = arguments.instance;
  report["kind"] = graph.kind == GraphKind::general ? "general" : "bipartite";
  report["rows"] = graph.graph.rows;
  report["cols"] = graph.graph.cols;
  report["edges"] = edges_of(problem);
  report["solver"] = chosen.info->name;
  report["options"] = matching::split_solver_name(arguments.solver).second;
  if (!chosen.reason.empty()) report["solver_reason"] = chosen.reason;
  report_where(report, chosen.backend, threads);
  report["status"] = to_string(pairs.status);
  report["cardinality"] = pairs.cardinality;
  report["objective"] = pairs.objective;
  report["dual_objective"] = proof.upper_bound;
  report["gap"] = proof.gap;
  report["verified"] = proof.verified;
  report["dominant"] = proof.dominant;
  report["upper_bound"] = proof.upper_bound;
  report["share_of_upper_bound"] = proof.share;
  report["seconds"] = {{"total", solve_s},       {"init", 0.0},    {"solve", solve_s - transfer_s},
                       {"transfer", transfer_s}, {"read", read_s}, {"verify", proof.seconds}};
  report["stats"] = {{"rounds", answer.stats.rounds},
                     {"matched", answer.stats.matched},
                     {"proposals", answer.stats.proposals},
                     {"arcs_scanned", answer.stats.arcs_scanned},
                     {"seconds", answer.stats.seconds}};
  if (!arguments.matching.empty()) write_pairs(arguments.matching, pairs_of(problem, pairs));
  std::string coarser;
  if (arguments.coarsen > 0) {
    report["coarsen"] = coarsen(arguments, execution, problem, *solver);
    coarser =
        fmt::format("\n{} levels, the coarsest of {} vertices, {:.6f} s", report["coarsen"]["levels"].size(),
                    report["coarsen"]["vertices"].get<Index>(), report["coarsen"]["seconds"].get<double>());
  }
  emit_json(session, report);
  session.console.print(
      fmt::format("{}: {} x {}, {} edges, {}\n{} on {}: {}{}\n{} pairs, weight {:.10g}, {:.6f} s{}",
                  arguments.instance, graph.graph.rows, graph.graph.cols, edges_of(problem),
                  report["kind"].get<std::string>(), chosen.info->name, on_gpu ? "cuda" : "cpu",
                  to_string(pairs.status), proof.text, pairs.cardinality, pairs.objective, solve_s, coarser));
}

}  // namespace motes::app
