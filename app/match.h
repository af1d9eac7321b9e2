#pragma once
/// What the families of `motes match` share.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/command.h"
#include "matching/matching.h"
#include "matching/registry.h"

namespace motes::app {

struct MatchArguments {
  std::string instance, solver = "auto", problem, unmatched, matching, ties, init;
  std::string coarse, coarse_map;
  std::int64_t coarsen = 0;
  std::string coarsen_by;  ///< "weight", "density", or empty
  bool verify = false;
};

/// Of --problem, or of the solver that --solver names. Throws UsageError.
matching::Family family_of(const MatchArguments& arguments);

/// The row that --solver names, which must be of that family. Throws UsageError, with the nearest name.
const matching::SolverInfo& named_solver(const MatchArguments& arguments, matching::Family family);

/// Pairs as CSV, row by row; the file appears whole or not at all.
void write_pairs(const std::string& path, const matching::Matching& answer);

/// An item of a comma-separated list of the registry.
bool lists(std::string_view all, std::string_view one);

double seconds_since(std::chrono::steady_clock::time_point start);

void match_assignment(Session& session, const MatchArguments& arguments);
void match_cardinality(Session& session, const MatchArguments& arguments);
void match_greedy(Session& session, const MatchArguments& arguments);

}  // namespace motes::app
