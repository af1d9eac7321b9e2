#pragma once
/// One row per solver. The command line, configuration, tests, benchmarks and the README's table read it.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_solver.h>
#include <motes/matching/greedy_solver.h>
#include <motes/matching/solver_options.h>

namespace motes::matching {

enum class Family { assignment, cardinality, greedy };
std::string_view to_string(Family family);

struct SolverInfo {
  std::string_view name;
  Family family;
  std::string_view backends;   ///< comma-separated: "cpu", "cuda"
  std::string_view costs;      ///< comma-separated: "sparse", "dense", "geometric"; of others: "graph"
  std::string_view guarantee;  ///< "exact" or what it promises
  std::string_view source;     ///< paper or method
  std::unique_ptr<AssignmentSolver> (*make)() = nullptr;  ///< of assignment rows; null in others
  /// Of cardinality rows, from options made of `options`; null in others.
  std::unique_ptr<CardinalitySolver> (*make_cardinality)(const SolverOptions&) = nullptr;
  std::span<const OptionInfo> options{};
  /// Of greedy rows, likewise; null in others.
  std::unique_ptr<GreedySolver> (*make_greedy)(const SolverOptions&) = nullptr;
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

/// The same for the cardinality problem. Host memory. O(rows).
AutoChoice choose_cardinality_solver(const BipartiteGraphView& graph, Backend backend = Backend::cpu,
                                     bool gpu_there = false);

/// The same for greedy matching. O(1).
AutoChoice choose_greedy_solver(const GreedyProblem& problem, Backend backend = Backend::cpu,
                                bool gpu_there = false);

}  // namespace motes::matching
