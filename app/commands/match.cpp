/// motes match: one matching problem, from a file or generated, through any solver of the registry.

#include "app/commands/match.h"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/io/atomic_file.h>
#include <motes/matching/initialiser.h>

#include "app/options/nearest.h"

namespace motes::app {
namespace {

std::string initialiser_names() {
  std::string all;
  for (const auto& info : matching::initialisers()) all += (all.empty() ? "" : ", ") + std::string(info.name);
  return all;
}

/// The first solver of the family with both a CPU and a CUDA form.
std::string_view either_form(matching::Family family) {
  for (const auto& info : matching::solvers())
    if (info.family() == family && info.backends.contains(Backend::cpu) &&
        info.backends.contains(Backend::cuda))
      return info.name;
  return "another";
}

}  // namespace

matching::Family family_of(const MatchArguments& arguments) {
  using matching::Family;
  if (arguments.problem == "cardinality") return Family::cardinality;
  if (arguments.problem == "greedy") return Family::greedy;
  if (!arguments.problem.empty() && arguments.problem != "assignment")
    throw UsageError("--problem: '" + arguments.problem +
                     "' is not allowed; allowed: assignment, cardinality, greedy");
  const auto* info = matching::find_solver(matching::split_solver_name(arguments.solver).first);
  return arguments.problem.empty() && info != nullptr ? info->family() : Family::assignment;
}

const matching::SolverInfo& named_solver(const MatchArguments& arguments, matching::Family family) {
  const std::string name(matching::split_solver_name(arguments.solver).first);
  std::vector<std::string> names;
  for (const auto& info : matching::solvers())
    if (info.family() == family) names.emplace_back(info.name);
  if (names.empty())
    throw UsageError("--problem: this build has no " + std::string(to_string(family)) + " solvers");
  const auto* info = matching::find_solver(name);
  if (info == nullptr)
    throw UsageError("--solver: no solver is called '" + name + "'" + did_you_mean(name, names, "") +
                     " (motes info lists them)");
  if (info->family() != family)
    throw UsageError("--solver: " + name + " solves " + std::string(to_string(info->family())) +
                     " problems, not " + std::string(to_string(family)));
  return *info;
}

matching::AutoChoice choose_by(const AutoRule& automatic, const Config& config) {
  const auto wanted = config.execution.backend;
  const auto choice =
      automatic(wanted, wanted == Backend::cpu ? matching::Gpu::none : matching::Gpu::not_started);
  if (choice.backend != Backend::cuda) return choice;
  const auto devices = gpu::list_devices();
  if (!devices.devices.empty()) return choice;
  if (wanted == Backend::cuda)
    throw ResourceError("--backend cuda: no GPU: " + devices.why_none + "; use --backend cpu");
  return automatic(wanted, matching::Gpu::none);
}

void require_form(const matching::SolverInfo& info, Backend wanted) {
  if (wanted == Backend::cuda && !info.backends.contains(Backend::cuda))
    throw UsageError("--backend: " + std::string(info.name) + " has no CUDA form; use cpu");
  if (wanted == Backend::cpu && !info.backends.contains(Backend::cpu))
    throw UsageError("--backend: " + std::string(info.name) + " has no CPU form; use cuda");
}

NamedSolver name_solver(const MatchArguments& arguments, const Config& config, matching::Family family,
                        const AutoRule& automatic) {
  const auto wanted = config.execution.backend;
  const auto choice = choose_by(automatic, config);
  if (arguments.solver == "auto")
    return {choice.info, std::string(choice.info->name), choice.backend, choice.reason,
            std::string(choice.init)};
  const auto& info = named_solver(arguments, family);
  require_form(info, wanted);
  if (!info.backends.contains(Backend::cuda)) return {&info, arguments.solver, Backend::cpu, "", ""};
  if (info.backends.contains(Backend::cpu)) return {&info, arguments.solver, choice.backend, "", ""};
  if (const auto devices = gpu::list_devices(); devices.devices.empty())
    throw ResourceError("--solver " + std::string(info.name) + ": no GPU: " + devices.why_none + "; use " +
                        std::string(either_form(family)));
  return {&info, arguments.solver, Backend::cuda, "", ""};
}

void write_pairs(const std::string& path, const matching::Matching& answer) {
  std::string text = "row,col\n";
  for (std::size_t i = 0; i < answer.row_to_col.size(); ++i)
    if (answer.row_to_col[i] != -1) text += fmt::format("{},{}\n", i, answer.row_to_col[i]);
  io::write_text(path, text);
}

void report_where(nlohmann::ordered_json& report, Backend backend, int threads) {
  const bool on_gpu = backend == Backend::cuda;
  report["backend"] = on_gpu ? "cuda" : "cpu";
  report["threads"] = threads;
  report["device"] = nullptr;
  if (on_gpu) report["device"] = gpu::list_devices().devices.at(0).name;
}

double transfer_seconds(const std::map<std::string, double>& steps) {
  const auto transfer = steps.find("transfer");
  return transfer == steps.end() ? 0 : transfer->second;
}

namespace {

void add_match_options(CommandOptions& command, MatchArguments& arguments) {
  command.add_option(
      "INSTANCE", arguments.instance,
      "A MatrixMarket (.mtx, .mtx.gz) or HDF5 (.h5) file, or gen:... (docs/library/problems.md)");
  command
      .add_option("--solver", arguments.solver,
                  "A solver that motes info lists, NAME?OPTION=VALUE&..., or auto [auto]")
      .type_name("NAME");
  command
      .add_option("--problem", arguments.problem, "assignment, cardinality or greedy [the solver's family]")
      .type_name("KIND");
  command
      .add_option("--unmatched", arguments.unmatched,
                  "Allow free vertices on both sides at this cost each, in the unit of the costs")
      .type_name("COST");
  command
      .add_option("--init", arguments.init,
                  "cardinality: start of the solver, " + initialiser_names() +
                      " [GPU: none; solver auto: none or cheap; else karp-sipser]")
      .type_name("NAME");
  command.add_flag("--verify", arguments.verify, "Check the certificate of optimality");
  command.add_option("--matching", arguments.matching, "Write the pairs as CSV (row,col)")
      .check(refuse_empty_name)
      .type_name("FILE");
  command
      .add_option("--certificate", arguments.certificate,
                  "assignment: write pairs and duals, for scripts/check_certificate.py")
      .check(refuse_empty_name)
      .type_name("FILE");
  command
      .add_option("--ties", arguments.ties,
                  "Choice among several optima: any, or hash (the same for all solvers) [any]")
      .type_name("RULE");
  command
      .add_option("--coarsen", arguments.coarsen,
                  "greedy: merge matched pairs, level by level, until at most N vertices are left")
      .type_name("N")
      .check_positive();
  command
      .add_option("--coarsen-by", arguments.coarsen_by,
                  "With --coarsen: choose pairs by weight, or by density (weight over the weights of both "
                  "vertices) [weight]")
      .type_name("RULE")
      .check_one_of({"weight", "density"});
  command.add_option("--coarse", arguments.coarse, "With --coarsen: write the coarsest graph as MatrixMarket")
      .type_name("FILE");
  command
      .add_option("--coarse-map", arguments.coarse_map,
                  "With --coarsen: write the coarse vertex of each vertex as CSV (vertex,coarse)")
      .type_name("FILE");
}

/// Rejects options, and several ranks, that the family of problems does not support.
void check_family(const MatchArguments& arguments, matching::Family family) {
  if (family != matching::Family::greedy && (arguments.coarsen != 0 || !arguments.coarsen_by.empty() ||
                                             !arguments.coarse.empty() || !arguments.coarse_map.empty()))
    throw UsageError("--coarsen: only for greedy problems");
  if (family != matching::Family::assignment && !arguments.certificate.empty())
    throw UsageError("--certificate: only for assignment problems");
  if (family == matching::Family::greedy && launched().size > 1)
    throw UsageError("--problem: several ranks (mpirun) do not solve greedy problems");
}

void run_match(Session& session, const MatchArguments& arguments) {
  require_argument(arguments.instance, "match needs an INSTANCE (a .mtx or .h5 file, or gen:...)");
  const auto family = family_of(arguments);
  check_family(arguments, family);
  if (family == matching::Family::cardinality)
    on_ranks([&](Communicator* ranks) {
      if (ranks != nullptr)
        match_cardinality_on_ranks(session, arguments, *ranks);
      else
        match_cardinality(session, arguments);
    });
  else if (family == matching::Family::greedy)
    match_greedy(session, arguments);
  else
    on_ranks([&](Communicator* ranks) { match_assignment(session, arguments, ranks); });
}

}  // namespace

Command add_match(CLI::App& app, Session& session) {
  CommandOptions command = add_command(app, "match", "Solve a matching problem and prove the answer");
  auto arguments = std::make_shared<MatchArguments>();
  add_match_options(command, *arguments);
  return {&command.app(), [&session, arguments] { run_match(session, *arguments); }};
}

}  // namespace motes::app
