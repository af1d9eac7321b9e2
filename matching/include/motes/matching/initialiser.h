#pragma once
/// Initialisers: cheap matchings that any cardinality or assignment solver can start from.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

struct InitialiserInfo {
  std::string_view name;      ///< "none", "cheap", "karp-sipser", "min-degree", "greedy"
  std::string_view backends;  ///< comma-separated: "cpu", "cuda"
  std::string_view promise;
  std::string_view source;
  /// A matching (row_to_col [rows], -1 = free); maximal, but for "none". The graph must be sound
  /// (check_problem) and in host memory. Seed 0 takes rows in their order, any other in an order drawn from
  /// it. The same matching each time on one thread; on several, which of the maximal matchings comes out
  /// depends on timing. O(rows + cols + nnz). With the cuda back end those that list it run there, on graphs
  /// in either space, and give what one thread does; the others run on the CPU.
  std::vector<Index> (*run)(const Execution&, const CardinalityProblem&, std::uint64_t seed);
};

/// Every initialiser of this build.
std::span<const InitialiserInfo> initialisers();
/// The row of that name, or nullptr.
const InitialiserInfo* find_initialiser(std::string_view name);

}  // namespace motes::matching
