#pragma once
/// Why a problem has no solution.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// Vertices that must all be matched, but have fewer neighbours than there are of them (Hall's condition).
struct HallViolator {
  bool of_rows = true;          ///< the vertices are rows (else columns)
  std::vector<Index> vertices;  ///< ascending
  std::int64_t neighbours = 0;  ///< fewer than vertices.size()
};

/// A violator, or none where the problem is feasible: by Mendelsohn and Dulmage's theorem it is as soon as
/// the rows that must be matched can be, and the columns that must be can be, each taken alone. Host views
/// only. By Hopcroft and Karp's phases: O(size * sqrt(rows + cols)).
std::optional<HallViolator> find_hall_violator(const CostsView& problem);

}  // namespace motes::matching
