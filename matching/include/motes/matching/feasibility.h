#pragma once
/// Reasons why a problem has no solution.

#include <cstdint>
#include <optional>
#include <vector>

#include <motes/matching/problem.h>

namespace motes::matching {

/// A set of vertices that must all be matched but has fewer neighbours than members, against Hall's
/// condition.
struct HallViolator {
  bool of_rows = true;          ///< the vertices are rows (else columns)
  std::vector<Index> vertices;  ///< ascending
  std::int64_t neighbours = 0;  ///< fewer than vertices.size()
};

/// A Hall violator, or none if the problem is feasible. By the theorem of Mendelsohn and Dulmage a problem is
/// feasible if the rows that must be matched can be matched, and the columns, too, with each side considered
/// alone. Host views only. Hopcroft and Karp's algorithm, O(size * sqrt(rows + cols)).
std::optional<HallViolator> find_hall_violator(const CostsView& problem);

}  // namespace motes::matching
