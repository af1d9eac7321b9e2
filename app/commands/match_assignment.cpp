/// motes match, the assignment family: minimum cost, with duals that prove it.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/io/atomic_file.h>
#include <motes/io/problem_files.h>
#include <motes/matching/distributed.h>
#include <motes/matching/feasibility.h>
#include <motes/matching/instances.h>
#include <motes/matching/ties.h>
#include <motes/matching/verify.h>

#include "app/commands/match.h"
#include "app/options/codec.h"
#include "app/report/report.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

/// The solver and back end. Throws UsageError and ResourceError if they are not available.
matching::AutoChoice choose(const MatchArguments& arguments, const Config& config,
                            const matching::CostsView& problem) {
  const auto wanted = config.execution.backend;
  matching::AutoChoice choice = choose_by(
      [&](Backend backend, matching::Gpu gpu) { return matching::choose_solver(problem, backend, gpu); },
      config);
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

/// The number of allowed pairs; null if counting them needs a pass over all pairs.
ordered_json edges_json(const matching::CostsView& problem) {
  if (const auto* sparse = std::get_if<matching::SparseCostsView>(&problem)) return sparse->graph.edges();
  if (const auto* points = std::get_if<matching::GeometricCostsView>(&problem); points != nullptr)
    if (std::isfinite(points->gate)) return nullptr;
  return static_cast<std::int64_t>(rows_of(problem)) * cols_of(problem);
}

/// A number of cost steps in the unit of the costs; an integer if costs are integers.
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
  if (stats.messages > 0) {
    json["messages"] = stats.messages;
    json["bytes_sent"] = stats.bytes_sent;
  }
  json["seconds"] = stats.seconds;
  return json;
}

/// Writes pairs and duals in integer cost steps, one per line, so that another program can prove the optimum.
/// Throws UsageError if there are no duals.
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

/// A problem and its answer, by one process or by this rank of several.
struct Solved {
  matching::Matching answer;
  Execution execution;
  double total_s = 0, verify_s = 0;
  std::optional<matching::Certificate> certificate;
};

Solved solve_alone(const MatchArguments& arguments, const Execution& cpu, const matching::AutoChoice& choice,
                   const matching::CostsView& problem) {
  Solved out;
  out.execution = cpu;
  out.execution.backend = choice.backend;
  const auto solve_start = std::chrono::steady_clock::now();
  out.answer = choice.info->make()->solve(out.execution, problem);
  out.total_s = seconds_since(solve_start);
  if (arguments.ties == "hash" && out.answer.status == matching::Status::optimal)
    out.answer = matching::resolve_ties(cpu, problem, out.answer);
  if (arguments.verify && out.answer.status != matching::Status::infeasible) {
    const auto verify_start = std::chrono::steady_clock::now();
    out.certificate = matching::verify(out.execution, problem, out.answer);
    out.verify_s = seconds_since(verify_start);
  }
  return out;
}

Solved solve_on_ranks(const MatchArguments& arguments, const Execution& cpu,
                      const matching::AutoChoice& choice, const matching::DistributedCosts& distributed,
                      Communicator& ranks) {
  Solved out;
  out.execution.threads = cpu.threads;
  out.execution.backend = choice.backend;
  const auto solve_start = std::chrono::steady_clock::now();
  out.answer = matching::solve_distributed(ranks, out.execution, choice.info->name, distributed);
  out.total_s = seconds_since(solve_start);
  if (arguments.verify && out.answer.status != matching::Status::infeasible) {
    const auto verify_start = std::chrono::steady_clock::now();
    out.certificate = matching::verify_distributed(ranks, out.execution, distributed, out.answer);
    out.verify_s = seconds_since(verify_start);
  }
  return out;
}

/// Throws UsageError for options that several ranks do not support.
void require_ranks(const MatchArguments& arguments) {
  if (arguments.solver != "auto" && !matching::runs_on_ranks(arguments.solver))
    throw UsageError("--solver: " + arguments.solver +
                     " has no form for several ranks (mpirun); use jv, hungarian-tree or hungarian");
  if (!arguments.ties.empty() && arguments.ties != "any")
    throw UsageError("--ties: on several ranks (mpirun) only any is possible");
}

/// As choose(), for solvers with a form for several ranks; auto: jv for matrices and points, hungarian-tree
/// for graphs.
matching::AutoChoice choose_on_ranks(MatchArguments arguments, const Config& config,
                                     const matching::CostsView& problem) {
  const bool automatic = arguments.solver == "auto";
  const bool graph = std::holds_alternative<matching::SparseCostsView>(problem);
  if (automatic) arguments.solver = graph ? "hungarian-tree" : "jv";
  if (arguments.solver == "jv" && graph)
    throw UsageError(
        "--solver: jv takes only full matrices and points on several ranks (mpirun); use hungarian-tree");
  matching::AutoChoice choice = choose(arguments, config, problem);
  if (automatic) choice.reason = "it sends the least data of the exact solvers for several ranks";
  return choice;
}

/// The problem in the report; stored separately since costs may be distributed over ranks.
struct Facts {
  matching::Index rows = 0, cols = 0;
  std::string kind;
  int bits = 0;
  ordered_json edges;
};

/// A problem, or this rank's part of it, and the solver.
struct Task {
  Execution cpu;
  matching::Costs costs;
  matching::DistributedCosts distributed;  ///< in place of the costs, on several ranks
  matching::AutoChoice choice;
  Facts facts;
  double read_s = 0;
};

matching::Costs read_costs(const MatchArguments& arguments, const Execution& cpu) {
  matching::Costs costs = matching::is_generated(arguments.instance)
                              ? matching::generate_assignment(cpu, arguments.instance)
                              : io::read_problem(arguments.instance).costs;
  if (!arguments.unmatched.empty()) {
    const auto value = real(kNotNegative).parse(word_value(arguments.unmatched));
    if (!value)
      throw UsageError("--unmatched: '" + arguments.unmatched +
                       "' is not a number of 0 or more; give one, in the unit of the costs");
    matching::set_unmatched(costs, matching::to_grid(*value, fraction_bits_of(matching::view_of(costs))));
  } else if (const auto view = matching::view_of(costs);
             unmatched_row_cost_of(view).empty() && unmatched_col_cost_of(view).empty()) {
    matching::require_smaller_side(costs);
  }
  return costs;
}

Facts facts_of(const matching::CostsView& problem) {
  return {rows_of(problem), cols_of(problem), std::string(to_string(matching::kind_of(problem))),
          fraction_bits_of(problem), edges_json(problem)};
}

/// Generates only this rank's part if the family allows it; else returns false.
bool distribute_generated(Task& task, const MatchArguments& arguments, const Config& config,
                          const Communicator& ranks) {
  const bool given = matching::is_generated(arguments.instance) && arguments.unmatched.empty();
  if (!given || arguments.solver != "jv") return false;
  try {
    task.distributed = matching::distribute_generated(ranks, task.cpu, arguments.solver, arguments.instance);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--solver: " + std::string(error.what()));
  }
  const matching::CostsView part = matching::view_of(task.distributed.part);
  task.choice = choose_on_ranks(arguments, config, part);
  task.facts = facts_of(part);
  task.facts.rows = task.distributed.rows;
  task.facts.cols = task.distributed.cols;
  task.facts.edges = static_cast<std::int64_t>(task.distributed.rows) * task.distributed.cols;
  return true;
}

/// Sets this rank's part of the problem and the solver.
void distribute_task(Task& task, const MatchArguments& arguments, const Config& config,
                     const Communicator& ranks) {
  require_ranks(arguments);
  if (distribute_generated(task, arguments, config, ranks)) return;
  matching::Costs costs = read_costs(arguments, task.cpu);
  const matching::CostsView problem = matching::view_of(costs);
  task.choice = choose_on_ranks(arguments, config, problem);
  task.facts = facts_of(problem);
  const matching::Split split = matching::split_of(task.choice.info->name, problem);
  task.distributed = matching::distribute(ranks, split, std::move(costs));
}

Task read_task(Session& session, const MatchArguments& arguments, const Communicator* ranks) {
  Task task;
  const Config config = configure(session, "", true);
  task.cpu = share_of_threads(config);
  if (!arguments.ties.empty() && arguments.ties != "any" && arguments.ties != "hash")
    throw UsageError("--ties: '" + arguments.ties + "' is not allowed; allowed: any, hash");
  if (!arguments.init.empty()) throw UsageError("--init: only for cardinality problems");
  const auto read_start = std::chrono::steady_clock::now();
  if (ranks != nullptr) {
    distribute_task(task, arguments, config, *ranks);
  } else {
    task.costs = read_costs(arguments, task.cpu);
    task.choice = choose(arguments, config, matching::view_of(task.costs));
    task.facts = facts_of(matching::view_of(task.costs));
  }
  task.read_s = seconds_since(read_start);
  return task;
}

/// The report, without the fields that are added for infeasible problems.
ordered_json report_of(const MatchArguments& arguments, const Task& task, const Solved& solved,
                       const ordered_json& verified, const Communicator* ranks) {
  const matching::Matching& answer = solved.answer;
  const Facts& facts = task.facts;
  const double transfer_s = transfer_seconds(answer.stats.seconds);
  ordered_json report = report_head("match");
  report["instance"] = arguments.instance;
  report["rows"] = facts.rows;
  report["cols"] = facts.cols;
  report["edges"] = facts.edges;
  report["costs"] = facts.kind;
  report["cost_step"] = std::ldexp(1.0, -facts.bits);
  report["solver"] = task.choice.info->name;
  if (!task.choice.reason.empty()) report["solver_reason"] = task.choice.reason;
  report_where(report, solved.execution.backend, thread_count(task.cpu));
  if (ranks != nullptr) report["ranks"] = ranks->size();
  report["status"] = to_string(answer.status);
  report["cardinality"] = answer.cardinality;
  report["objective"] = in_unit(answer.objective, facts.bits);
  report["dual_objective"] = in_unit(answer.dual_objective, facts.bits);
  report["gap"] = in_unit(answer.gap, facts.bits);
  report["verified"] = verified;
  report["ties"] = arguments.ties.empty() ? "any" : arguments.ties;
  report["seconds"] = {
      {"total", solved.total_s}, {"init", 0.0},         {"solve", solved.total_s - transfer_s},
      {"transfer", transfer_s},  {"read", task.read_s}, {"verify", solved.verify_s}};
  report["stats"] = stats_json(answer.stats);
  return report;
}

/// true or false; null without a certificate. Warns if the certificate fails.
ordered_json verified_json(Session& session, const Solved& solved) {
  if (!solved.certificate) return nullptr;
  if (!solved.certificate->optimal())
    session.console.warn("the certificate of optimality fails: " + solved.certificate->fault +
                         "; please report this");
  return solved.certificate->optimal() && solved.certificate->gap == 0;
}

/// "infeasible", with a Hall violator if the whole problem is given.
std::string tell_infeasible(const matching::CostsView* problem, ordered_json& report) {
  const auto hall = problem != nullptr ? matching::find_hall_violator(*problem) : std::nullopt;
  if (!hall) return "infeasible";
  report["hall_violator"] = {{"side", hall->of_rows ? "rows" : "columns"},
                             {"vertices", hall->vertices.size()},
                             {"neighbours", hall->neighbours}};
  return fmt::format("infeasible: {} {} that must be matched have only {} partners", hall->vertices.size(),
                     hall->of_rows ? "rows" : "columns", hall->neighbours);
}

}  // namespace

void match_assignment(Session& session, const MatchArguments& arguments, Communicator* ranks) {
  Task task;
  everywhere(ranks, [&] { task = read_task(session, arguments, ranks); });
  const Solved solved = ranks != nullptr
                            ? solve_on_ranks(arguments, task.cpu, task.choice, task.distributed, *ranks)
                            : solve_alone(arguments, task.cpu, task.choice, matching::view_of(task.costs));
  const matching::Matching& answer = solved.answer;
  const Facts& facts = task.facts;
  const ordered_json verified = verified_json(session, solved);
  ordered_json report = report_of(arguments, task, solved, verified, ranks);
  std::string verdict = fmt::format("{} pairs, objective {}", answer.cardinality, report["objective"].dump());
  everywhere(ranks, [&] {
    if (ranks != nullptr && ranks->rank() > 0) return;
    const matching::CostsView problem = matching::view_of(task.costs);
    if (answer.status == matching::Status::infeasible)
      verdict = tell_infeasible(ranks != nullptr ? nullptr : &problem, report);
    if (!arguments.matching.empty()) write_pairs(arguments.matching, answer);
    if (!arguments.certificate.empty()) write_certificate(arguments.certificate, answer, facts.bits);
    emit_json(session, report);
  });
  const bool on_gpu = solved.execution.backend == Backend::cuda;
  const std::string ranks_text = ranks != nullptr ? fmt::format(", {} ranks", ranks->size()) : "";
  session.console.print(fmt::format("{}: {} x {} {}\n{} on {}{}: {}{}\n{}, {:.6f} s", arguments.instance,
                                    facts.rows, facts.cols, facts.kind, task.choice.info->name,
                                    on_gpu ? "cuda" : "cpu", ranks_text, to_string(answer.status),
                                    verified.is_null()     ? ""
                                    : verified.get<bool>() ? ", proven by its certificate"
                                                           : ", NOT PROVEN",
                                    verdict, solved.total_s));
}

}  // namespace motes::app
