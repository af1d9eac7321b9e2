/// motes match: one matching problem, from a file or generated, through any solver of the registry.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/codec.h"
#include "app/command.h"
#include "app/nearest.h"
#include "app/report.h"
#include "io/atomic_file.h"
#include "io/problem_files.h"
#include "matching/device/device.h"
#include "matching/feasibility.h"
#include "matching/registry.h"
#include "matching/ties.h"
#include "matching/verify.h"
#include "sim/instances.h"
#include "tracking/types/errors.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

struct Arguments {
  std::string instance, solver = "auto", problem, unmatched, matching, ties = "any";
  bool verify = false;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool lists(std::string_view all, std::string_view one) { return all.find(one) != std::string_view::npos; }

const char* kind_of(const matching::CostsView& problem) {
  return problem.index() == 0 ? "sparse" : problem.index() == 1 ? "dense" : "geometric";
}

matching::Family family_of(const Arguments& arguments) {
  using matching::Family;
  if (arguments.problem == "cardinality") return Family::cardinality;
  if (arguments.problem == "greedy") return Family::greedy;
  if (!arguments.problem.empty() && arguments.problem != "assignment")
    throw UsageError("--problem: '" + arguments.problem + "' is none of assignment, cardinality, greedy");
  const auto* info = matching::find_solver(arguments.solver);
  return arguments.problem.empty() && info != nullptr ? info->family : Family::assignment;
}

/// The row that --solver names, of the family that --problem names.
const matching::SolverInfo& named_solver(const Arguments& arguments) {
  const matching::Family family = family_of(arguments);
  std::vector<std::string> names;
  for (const auto& info : matching::solvers())
    if (info.family == family) names.emplace_back(info.name);
  if (names.empty())
    throw UsageError("--problem: this build has no " + std::string(to_string(family)) + " solvers");
  const auto* info = matching::find_solver(arguments.solver);
  if (info == nullptr)
    throw UsageError("--solver: no solver is called '" + arguments.solver + "'; did you mean '" +
                     nearest(arguments.solver, names) + "'? (motes info lists them)");
  if (info->family != family)
    throw UsageError("--solver: " + arguments.solver + " solves " + std::string(to_string(info->family)) +
                     " problems, not " + std::string(to_string(family)));
  return *info;
}

/// What solves the problem where. Throws UsageError and ResourceError for what cannot be had.
matching::AutoChoice choose(const Arguments& arguments, const Config& config,
                            const matching::CostsView& problem) {
  const auto wanted = config.execution.backend;
  const auto devices = wanted == Backend::cpu ? matching::DeviceReport{} : matching::list_devices();
  if (wanted == Backend::cuda && devices.devices.empty())
    throw ResourceError("--backend cuda: no GPU: " + devices.why_none + "; use --backend cpu");
  matching::AutoChoice choice = matching::choose_solver(problem, wanted, !devices.devices.empty());
  if (arguments.solver == "auto" && family_of(arguments) == matching::Family::assignment) return choice;
  const matching::SolverInfo& info = named_solver(arguments);
  const bool cuda = lists(info.backends, "cuda");
  if (wanted == Backend::cuda && !cuda)
    throw UsageError("--backend: " + std::string(info.name) + " has no CUDA form; use cpu");
  if (!lists(info.costs, kind_of(problem)))
    throw UsageError("--solver: " + std::string(info.name) + " does not take " + kind_of(problem) +
                     " costs, only " + std::string(info.costs));
  return {&info, cuda ? choice.backend : Backend::cpu, ""};
}

/// Pairs, row by row; the file appears whole or not at all.
void write_pairs(const std::string& path, const matching::Matching& answer) {
  std::string text = "row,col\n";
  for (std::size_t i = 0; i < answer.row_to_col.size(); ++i)
    if (answer.row_to_col[i] != -1) text += fmt::format("{},{}\n", i, answer.row_to_col[i]);
  io::write_text(path, text);
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

void run_match(Session& session, const Arguments& arguments) {
  const Config config = configure(session, "", true);
  const Execution cpu = execution_of(config);
  if (arguments.ties != "any" && arguments.ties != "hash")
    throw UsageError("--ties: '" + arguments.ties + "' is neither any nor hash");

  const auto read_start = std::chrono::steady_clock::now();
  matching::Costs costs = sim::is_generated(arguments.instance)
                              ? sim::generate_assignment(cpu, arguments.instance)
                              : io::read_problem(arguments.instance).costs;
  if (!arguments.unmatched.empty()) {
    const auto value = real(kNotNegative).parse(word_value(arguments.unmatched));
    if (!value) throw UsageError("--unmatched: '" + arguments.unmatched + "' is no number from 0 up");
    sim::set_unmatched(costs, matching::to_grid(*value, fraction_bits_of(matching::view_of(costs))));
  } else if (const auto view = matching::view_of(costs);
             unmatched_row_cost_of(view).empty() && unmatched_col_cost_of(view).empty()) {
    sim::require_smaller_side(costs);
  }
  const matching::CostsView problem = matching::view_of(costs);
  const int bits = fraction_bits_of(problem);
  const double read_s = seconds_since(read_start);

  const matching::AutoChoice choice = choose(arguments, config, problem);
  const matching::SolverInfo& info = *choice.info;
  matching::Execution execution;
  execution.threads = config.execution.threads;
  execution.backend = choice.backend;
  const auto solve_start = std::chrono::steady_clock::now();
  matching::Matching answer = info.make()->solve(execution, problem);
  const double total_s = seconds_since(solve_start);
  if (arguments.ties == "hash" && answer.status == matching::Status::optimal)
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
  const bool on_gpu = execution.backend == matching::Backend::cuda;
  const auto transfer = answer.stats.seconds.find("transfer");
  const double transfer_s = transfer == answer.stats.seconds.end() ? 0 : transfer->second;

  ordered_json report = report_head("match");
  report["instance"] = arguments.instance;
  report["rows"] = rows_of(problem);
  report["cols"] = cols_of(problem);
  report["edges"] = edges_json(problem);
  report["costs"] = kind_of(problem);
  report["cost_step"] = std::ldexp(1.0, -bits);
  report["solver"] = info.name;
  if (!choice.reason.empty()) report["solver_reason"] = choice.reason;
  report["backend"] = on_gpu ? "cuda" : "cpu";
  report["threads"] = thread_count(cpu);
  report["device"] =
      on_gpu ? ordered_json(matching::list_devices().devices.at(0).name) : ordered_json(nullptr);
  report["status"] = to_string(answer.status);
  report["cardinality"] = answer.cardinality;
  report["objective"] = in_unit(answer.objective, bits);
  report["dual_objective"] = in_unit(answer.dual_objective, bits);
  report["gap"] = in_unit(answer.gap, bits);
  report["verified"] = verified;
  report["ties"] = arguments.ties;
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
  emit_json(session, report);
  session.console.print(fmt::format("{}: {} x {} {}\n{} on {}: {}{}\n{}, {:.6f} s", arguments.instance,
                                    rows_of(problem), cols_of(problem), kind_of(problem), info.name,
                                    on_gpu ? "cuda" : "cpu", to_string(answer.status),
                                    verified.is_null()     ? ""
                                    : verified.get<bool>() ? ", proven by its certificate"
                                                           : ", NOT PROVEN",
                                    verdict, total_s));
}

}  // namespace

Command add_match(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("match", "Solve one matching problem, and prove the answer");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("INSTANCE", arguments->instance,
                      "A MatrixMarket (.mtx, .mtx.gz) or HDF5 (.h5) file, or gen:... (docs/matching.md)");
  command->add_option("--solver", arguments->solver, "A solver that motes info lists, or auto [auto]")
      ->type_name("NAME");
  command
      ->add_option("--problem", arguments->problem, "assignment, cardinality or greedy [the solver's family]")
      ->type_name("KIND");
  command
      ->add_option("--unmatched", arguments->unmatched,
                   "Let vertices of both sides stay free, at this cost each, in the costs' unit")
      ->type_name("COST");
  command->add_flag("--verify", arguments->verify, "Check the certificate of optimality");
  command->add_option("--matching", arguments->matching, "Write the pairs as CSV (row,col)")
      ->type_name("FILE");
  command
      ->add_option("--ties", arguments->ties,
                   "Which optimum where there are several: any, or the one a hash picks, the same for all "
                   "solvers [any]")
      ->type_name("RULE");
  return {command, [&session, arguments] {
            require_argument(arguments->instance, "match needs an INSTANCE (a .mtx or .h5 file, or gen:...)");
            run_match(session, *arguments);
          }};
}

}  // namespace motes::app
