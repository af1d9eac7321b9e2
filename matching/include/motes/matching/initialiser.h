#pragma once
/// Initialisers: cheap matchings that any cardinality or assignment solver can start from.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <motes/matching/assignment_solver.h>
#include <motes/matching/backend_set.h>
#include <motes/matching/cardinality_problem.h>

namespace motes::matching {

struct InitialiserInfo {
  std::string_view name;  ///< "none", "cheap", "karp-sipser", "min-degree", "greedy"
  BackendSet backends;
  std::string_view promise;  ///< the guarantee for the matching, in a few words
  std::string_view source;   ///< paper or method
  /// Computes a matching (row_to_col [rows], -1 = free), which is maximal except for "none". The graph must
  /// be valid (check_problem) and in host memory. Seed 0 visits rows in their order, any other seed in a
  /// random order. Deterministic on one thread; on several, timing decides which maximal matching is
  /// returned. O(rows + cols + nnz). With the cuda back end, initialisers that list it run on the GPU,
  /// accept graphs in either memory space, and return what one CPU thread would; the others run on the CPU.
  std::vector<Index> (*run)(const Execution&, const CardinalityProblem&, std::uint64_t seed);
};

/// Every initialiser of this build.
std::span<const InitialiserInfo> initialisers();
/// The row of that name, or nullptr.
const InitialiserInfo* find_initialiser(std::string_view name);

}  // namespace motes::matching
