#pragma once
/// The table of solvers, one row each, which the command line, configuration, tests and benchmarks read.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/backend_set.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/greedy_solver.h>
#include <motes/matching/solver_options.h>

namespace motes::matching {

enum class Family { assignment, cardinality, greedy };
std::string_view to_string(Family family);

/// The kinds of problem that solvers accept. Assignment: sparse, dense, geometric. Other families: graph.
enum class CostKind : unsigned { sparse = 1, dense = 2, geometric = 4, graph = 8 };
struct CostKindSet {
  unsigned bits = 0;
  constexpr bool contains(CostKind kind) const { return (bits & static_cast<unsigned>(kind)) != 0; }
};
std::string_view to_string(CostKind kind);
/// The names, comma-separated: "sparse, dense, geometric".
std::string to_string(CostKindSet kinds);
CostKind kind_of(const CostsView& problem);

/// The guarantee for a solver's answer.
enum class Guarantee {
  exact,        ///< optimal, with a certificate
  half_weight,  ///< maximal, and at least half of the greatest possible weight
  maximal       ///< no further edge can be added
};
std::string_view to_string(Guarantee guarantee);

struct SolverInfo {
  using AssignmentFactory = std::unique_ptr<AssignmentSolver> (*)();
  using CardinalityFactory = std::unique_ptr<CardinalitySolver> (*)(const SolverOptions&);
  using GreedyFactory = std::unique_ptr<GreedySolver> (*)(const SolverOptions&);

  std::string_view name;
  BackendSet backends;
  CostKindSet costs;
  Guarantee guarantee = Guarantee::exact;
  std::string_view source;  ///< paper or method
  /// Never null; its alternative determines the family.
  std::variant<AssignmentFactory, CardinalityFactory, GreedyFactory> factory;
  std::span<const OptionInfo> options{};  ///< the options of a cardinality or greedy solver

  Family family() const { return static_cast<Family>(factory.index()); }

  /// Create a solver. Options that are not given take their defaults. Throw std::invalid_argument, naming the
  /// solver and its family, if it belongs to another family, or naming a wrong option (SolverOptions).
  std::unique_ptr<AssignmentSolver> make() const;
  std::unique_ptr<CardinalitySolver> make_cardinality(std::string_view options = {}) const;
  std::unique_ptr<GreedySolver> make_greedy(std::string_view options = {}) const;
};

/// Every solver of this build, in the order for users to read.
std::span<const SolverInfo> solvers();

/// The solver of that name, or nullptr.
const SolverInfo* find_solver(std::string_view name);

/// The cardinality solver that "name?key=value&key=value" describes. Throws std::invalid_argument naming the
/// fault: an unknown name, a solver of another family, an option (see SolverOptions).
std::unique_ptr<CardinalitySolver> make_cardinality_solver(std::string_view text);

/// The same for greedy solvers.
std::unique_ptr<GreedySolver> make_greedy_solver(std::string_view text);

/// The choice of `auto` for a given problem.
struct AutoChoice {
  const SolverInfo* info;
  Backend backend;
  std::string reason;              ///< the reason, in one clause
  std::string_view init = "none";  ///< cardinality: the initialiser to start from
};

/// The GPU that `auto` may choose. A process spends about .3 s on the first use of one.
enum class Gpu { none, not_started, started };

/// The solver and back end of `auto` for this problem. `backend` is the caller's request; automatic uses the
/// GPU for problems large enough to pay for the transfer, and for its start if it is not_started. So a caller
/// need not look for GPUs before this call, but must do so before following the choice.
AutoChoice choose_solver(const CostsView& problem, Backend backend = Backend::cpu, Gpu gpu = Gpu::none);

/// The same for the cardinality problem, on `threads` CPU threads (0: unknown, assume many). Host memory.
/// O(rows).
AutoChoice choose_cardinality_solver(const BipartiteGraphView& graph, Backend backend = Backend::cpu,
                                     Gpu gpu = Gpu::none, int threads = 0);
namespace detail {
/// The choice for large graphs on the CPU. O(rows).
AutoChoice choose_for_many_threads(const BipartiteGraphView& graph);
}  // namespace detail

/// The same for greedy matching. O(1).
AutoChoice choose_greedy_solver(const GreedyProblem& problem, Backend backend = Backend::cpu,
                                Gpu gpu = Gpu::none);

}  // namespace motes::matching
