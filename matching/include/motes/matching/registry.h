#pragma once
/// One row per solver. The command line, configuration, tests, benchmarks and the README's table read it.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/greedy_solver.h>
#include <motes/matching/solver_options.h>

namespace motes::matching {

enum class Family { assignment, cardinality, greedy };
std::string_view to_string(Family family);

/// A set of back ends.
struct BackendSet {
  bool cpu = false, cuda = false;
  constexpr bool contains(Backend backend) const {
    return backend == Backend::cpu ? cpu : backend == Backend::cuda && cuda;
  }
};
/// "cpu", "cuda" or "cpu, cuda".
std::string_view to_string(BackendSet backends);

/// What kind of problem a solver takes. Assignment: sparse, dense, geometric. Other families: graph.
enum class CostKind : unsigned { sparse = 1, dense = 2, geometric = 4, graph = 8 };
struct CostKindSet {
  unsigned bits = 0;
  constexpr bool contains(CostKind kind) const { return (bits & static_cast<unsigned>(kind)) != 0; }
};
std::string_view to_string(CostKind kind);
/// The names, comma-separated: "sparse, dense, geometric".
std::string to_string(CostKindSet kinds);
CostKind kind_of(const CostsView& problem);

/// What a solver's answer is proven to be.
enum class Guarantee {
  exact,        ///< optimal, with a certificate
  half_weight,  ///< at least half of the best weight
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
  /// The family's factory; it is never null, and says which family this is.
  std::variant<AssignmentFactory, CardinalityFactory, GreedyFactory> factory;
  std::span<const OptionInfo> options{};  ///< what a cardinality or greedy solver can be told

  Family family() const { return static_cast<Family>(factory.index()); }

  /// A solver of the row. Each throws std::invalid_argument, naming the solver and its family, for a row of
  /// another family. Options left out take their defaults.
  std::unique_ptr<AssignmentSolver> make() const;
  std::unique_ptr<CardinalitySolver> make_cardinality(std::string_view options = {}) const;
  std::unique_ptr<GreedySolver> make_greedy(std::string_view options = {}) const;
};

/// Every solver of this build, in the order users should read them.
std::span<const SolverInfo> solvers();

/// The row of that name, or nullptr.
const SolverInfo* find_solver(std::string_view name);

/// The cardinality solver that "name?key=value&key=value" asks for. Throws std::invalid_argument naming what
/// is wrong: no such name, one of another family, an option (see SolverOptions).
std::unique_ptr<CardinalitySolver> make_cardinality_solver(std::string_view text);

/// The same for greedy solvers.
std::unique_ptr<GreedySolver> make_greedy_solver(std::string_view text);

/// The solver and back end that `auto` stands for on this problem, and why, in one clause. `backend` is what
/// the caller asks for: automatic takes a GPU that is there where the problem is large.
struct AutoChoice {
  const SolverInfo* info;
  Backend backend;
  std::string reason;
  std::string_view init = "none";  ///< of cardinality: the initialiser to begin with
};
AutoChoice choose_solver(const CostsView& problem, Backend backend = Backend::cpu, bool gpu_there = false);

/// The same for the cardinality problem, on so many CPU threads (0: unknown, many). Host memory. O(rows).
AutoChoice choose_cardinality_solver(const BipartiteGraphView& graph, Backend backend = Backend::cpu,
                                     bool gpu_there = false, int threads = 0);
namespace detail {
/// What large graphs get on the CPU. O(rows).
AutoChoice choose_for_many_threads(const BipartiteGraphView& graph);
}  // namespace detail

/// The same for greedy matching. O(1).
AutoChoice choose_greedy_solver(const GreedyProblem& problem, Backend backend = Backend::cpu,
                                bool gpu_there = false);

}  // namespace motes::matching
