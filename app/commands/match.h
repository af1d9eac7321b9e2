#pragma once
/// Shared by the three families of `motes match`.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>
#include <motes/base/timer.h>
#include <motes/matching/answer.h>
#include <motes/matching/registry.h>

#include "app/command.h"
#include "app/ranks.h"

namespace motes::app {

struct MatchArguments {
  std::string instance, solver = "auto", problem, unmatched, matching, certificate, ties, init;
  std::string coarse, coarse_map;
  std::int64_t coarsen = 0;
  std::string coarsen_by;  ///< "weight", "density", or empty
  bool verify = false;
};

/// The family that --problem names, else that of the solver. Throws UsageError.
matching::Family family_of(const MatchArguments& arguments);

/// The row that --solver names, which must be of that family. Throws UsageError, with the nearest name.
const matching::SolverInfo& named_solver(const MatchArguments& arguments, matching::Family family);

/// Throws UsageError if the solver does not run on the requested back end.
void require_form(const matching::SolverInfo& info, Backend wanted);

/// The solver that --solver and --backend select.
struct NamedSolver {
  const matching::SolverInfo* info;
  std::string text;  ///< with its options
  Backend backend;
  std::string reason;  ///< of auto; else empty
  std::string init;    ///< of auto, the initialiser to begin with; else empty
};

/// The rule of `auto`: from the requested back end and the available GPU to a choice.
using AutoRule = std::function<matching::AutoChoice(Backend, matching::Gpu)>;

/// The rule's choice for --backend. Looks for a GPU only if the rule would use one. Throws ResourceError if
/// cuda is requested and there is none.
matching::AutoChoice choose_by(const AutoRule& automatic, const Config& config);

/// For the families on graphs: the named solver, checked, or the choice of `automatic`. Throws UsageError and
/// ResourceError if it is not available.
NamedSolver name_solver(const MatchArguments& arguments, const Config& config, matching::Family family,
                        const AutoRule& automatic);

/// Creates the named solver by the registry's `make`. Throws UsageError for a wrong option.
template <class Solver>
std::unique_ptr<Solver> make_solver(const NamedSolver& named,
                                    std::unique_ptr<Solver> (*make)(std::string_view)) {
  try {
    return make(named.text);
  } catch (const std::invalid_argument& error) {
    throw UsageError("--solver: " + std::string(error.what()));
  }
}

/// Throws UsageError for --unmatched and --ties.
void refuse_assignment_options(const MatchArguments& arguments);

/// Pairs as CSV, row by row; the file appears whole or not at all.
void write_pairs(const std::string& path, const matching::Matching& answer);

/// The report's fields backend, threads and device.
void report_where(nlohmann::ordered_json& report, Backend backend, int threads);

/// The time of the transfer to a GPU, from a solver's seconds by step; 0 without a GPU.
double transfer_seconds(const std::map<std::string, double>& steps);

void match_assignment(Session& session, const MatchArguments& arguments, Communicator* ranks);
void match_cardinality(Session& session, const MatchArguments& arguments);
void match_cardinality_on_ranks(Session& session, const MatchArguments& arguments, Communicator& ranks);
void match_greedy(Session& session, const MatchArguments& arguments);

}  // namespace motes::app
