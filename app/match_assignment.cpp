/// motes match, the assignment family: least cost, with duals that prove it.

#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/io/atomic_file.h>
#include <motes/io/problem_files.h>
#include <motes/matching/feasibility.h>
#include <motes/matching/instances.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>

#include "app/codec.h"
#include "app/match.h"
#include "app/report.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

/// What solves the problem where. Throws UsageError and ResourceError for what cannot be had.
matching::AutoChoice choose(const MatchArguments& arguments, const Config& config,
                            const matching::CostsView& problem) {
  const auto wanted = config.execution.backend;
  matching::AutoChoice choice = matching::choose_solver(problem, wanted, gpu_there(config));
  const matching::Family family = family_of(arguments);
  if (arguments.solver == "auto" && family == matching::Family::assignment) return choice;
  const matching::SolverInfo& info = named_solver(arguments, family);
  if (info.name != arguments.solver)
    throw UsageError("--solver: " + std::string(info.name) + " has no options");
  require_form(info, wanted);
  const matching::CostKind kind = matching::kind_of(problem);
  if (!info.costs.contains(kind))
    throw UsageError("--solver: " + std::string(info.name) + " does not take " +
                     std::string(to_string(kind)) + " costs, only " + to_string(info.costs));
  return {&info, info.backends.contains(Backend::cuda) ? choice.backend : Backend::cpu, ""};
}

/// Allowed pairs; nothing where only a pass over all of them would tell.
ordered_json edges_json(const matching::CostsView& problem) {
  if (const auto* sparse = std::get_if<matching::SparseCostsView>(&problem)) return sparse->graph.edges();
  if (const auto* points = std::get_if<matching::GeometricCostsView>(&problem); points != nullptr)
    if (std::isfinite(points->gate)) return nullptr;
  return static_cast<std::int64_t>(rows_of(problem)) * cols_of(problem);
}

/// A number of cost steps in the costs' own unit; whole where costs are.
ordered_json in_unit(double steps, int fraction_bits) {
  if (!std::isfinite(steps)) return nullptr;
  const double value = std::ldexp(steps, -fraction_bits);
  if (fraction_bits == 0 && std::abs(value) < 0x1p53) return static_cast<std::int64_t>(value);
  return value;
}

ordered_json stats_json(const matching::Stats& stats) {
  ordered_json json{{"initial_assignments", stats.initial_assignments},
                    {"phases", stats.phases},
                    {"rounds", stats.rounds},
                    {"augmentations", stats.augmentations},
                    {"assignments", stats.assignments}};
  if (stats.components > 0) {
    json["components"] = stats.components;
    json["largest_component"] = stats.largest_component;
  }
  json["seconds"] = stats.seconds;
  return json;
}

/// Pairs and duals as whole numbers of cost steps, a line each: what another program needs to prove them.
void write_certificate(const std::string& path, const matching::Matching& answer, int fraction_bits) {
  if (answer.status != matching::Status::optimal || answer.duals.u.size() != answer.row_to_col.size())
    throw UsageError("--certificate: this answer has no duals; use an exact solver on a feasible problem");
  std::string text = fmt::format("motes-certificate 1\nfraction_bits {}\nrows {}\ncols {}\n", fraction_bits,
                                 answer.row_to_col.size(), answer.col_to_row.size());
  for (std::size_t i = 0; i < answer.row_to_col.size(); ++i)
    fmt::format_to(std::back_inserter(text), "row {} {}\n", answer.row_to_col[i], answer.duals.u[i]);
  for (std::size_t j = 0; j < answer.col_to_row.size(); ++j)
    fmt::format_to(std::back_inserter(text), "col {} {}\n", answer.col_to_row[j], answer.duals.v[j]);
  io::write_text(path, text);
}

}  // namespace

void match_assignment(Session& session, const MatchArguments& arguments) {
  const Config config = configure(session, "", true);
  const Execution cpu = execution_of(config);
  const std::string ties = arguments.ties.empty() ? "any" : arguments.ties;
  if (ties != "any" && ties != "hash") throw UsageError("--ties: '" + ties + "' is neither any nor hash");
  if (!arguments.init.empty()) throw UsageError("--init: is for cardinality problems");

  const auto read_start = std::chrono::steady_clock::now();
  matching::Costs costs = matching::is_generated(arguments.instance)
                              ? matching::generate_assignment(cpu, arguments.instance)
                              : io::read_problem(arguments.instance).costs;
  if (!arguments.unmatched.empty()) {
    const auto value = real(kNotNegative).parse(word_value(arguments.unmatched));
    if (!value) throw UsageError("--unmatched: '" + arguments.unmatched + "' is not a number from 0 up");
    matching::set_unmatched(costs, matching::to_grid(*value, fraction_bits_of(matching::view_of(costs))));
  } else if (const auto view = matching::view_of(costs);
             unmatched_row_cost_of(view).empty() && unmatched_col_cost_of(view).empty()) {
    matching::require_smaller_side(costs);
  }
  const matching::CostsView problem = matching::view_of(costs);
  const int bits = fraction_bits_of(problem);
  const double read_s = seconds_since(read_start);

  const matching::AutoChoice choice = choose(arguments, config, problem);
  const matching::SolverInfo& info = *choice.info;
  Execution execution;
  execution.threads = config.execution.threads;
  execution.backend = choice.backend;
  const auto solve_start = std::chrono::steady_clock::now();
  matching::Matching answer = info.make()->solve(execution, problem);
  const double total_s = seconds_since(solve_start);
  if (ties == "hash" && answer.status == matching::Status::optimal)
    answer = matching::resolve_ties(cpu, problem, answer);

  ordered_json verified = nullptr;
  double verify_s = 0;
  if (arguments.verify && answer.status != matching::Status::infeasible) {
    const auto verify_start = std::chrono::steady_clock::now();
    const auto certificate = matching::verify(execution, problem, answer);
    verify_s = seconds_since(verify_start);
    verified = certificate.optimal() && certificate.gap == 0;
    if (!certificate.optimal())
      session.console.warn("the certificate of optimality fails: " + certificate.fault +
                           "; please report this");
  }
  const bool on_gpu = execution.backend == Backend::cuda;
  const double transfer_s = transfer_seconds(answer.stats.seconds);

  ordered_json report = report_head("match");
  report["instance"] = arguments.instance;
  report["rows"] = rows_of(problem);
  report["cols"] = cols_of(problem);
  report["edges"] = edges_json(problem);
  report["costs"] = to_string(matching::kind_of(problem));
  report["cost_step"] = std::ldexp(1.0, -bits);
  report["solver"] = info.name;
  if (!choice.reason.empty()) report["solver_reason"] = choice.reason;
  report_where(report, execution.backend, thread_count(cpu));
  report["status"] = to_string(answer.status);
  report["cardinality"] = answer.cardinality;
  report["objective"] = in_unit(answer.objective, bits);
  report["dual_objective"] = in_unit(answer.dual_objective, bits);
  report["gap"] = in_unit(answer.gap, bits);
  report["verified"] = verified;
  report["ties"] = ties;
  report["seconds"] = {{"total", total_s},       {"init", 0.0},    {"solve", total_s - transfer_s},
                       {"transfer", transfer_s}, {"read", read_s}, {"verify", verify_s}};
  report["stats"] = stats_json(answer.stats);
  std::string verdict = fmt::format("{} pairs, objective {}", answer.cardinality, report["objective"].dump());
  if (answer.status == matching::Status::infeasible) {
    verdict = "infeasible";
    if (const auto hall = matching::find_hall_violator(problem)) {
      report["hall_violator"] = {{"side", hall->of_rows ? "rows" : "columns"},
                                 {"vertices", hall->vertices.size()},
                                 {"neighbours", hall->neighbours}};
      verdict = fmt::format("infeasible: {} {} that must be matched have only {} partners",
                            hall->vertices.size(), hall->of_rows ? "rows" : "columns", hall->neighbours);
    }
  }
  if (!arguments.matching.empty()) write_pairs(arguments.matching, answer);
  if (!arguments.certificate.empty()) write_certificate(arguments.certificate, answer, bits);
  emit_json(session, report);
  session.console.print(fmt::format("{}: {} x {} {}\n{} on {}: {}{}\n{}, {:.6f} s", arguments.instance,
                                    rows_of(problem), cols_of(problem), to_string(matching::kind_of(problem)),
                                    info.name, on_gpu ? "cuda" : "cpu", to_string(answer.status),
                                    verified.is_null()     ? ""
                                    : verified.get<bool>() ? ", proven by its certificate"
                                                           : ", NOT PROVEN",
                                    verdict, total_s));
}

}  // namespace motes::app
