#pragma once
/// Some rows of a generated matrix, for a rank that needs no others.

#include <functional>
#include <optional>
#include <string_view>

#include <motes/base/communicator.h>
#include <motes/base/execution.h>
#include <motes/matching/problem.h>

namespace motes::matching::instances {

struct RowsWanted {
  /// The rows wanted of a matrix of this size, whose vertices may be unmatched at a given cost or not;
  /// nothing: all.
  std::function<std::optional<Block>(Index rows, Index cols, bool unmatched)> choose;

  // The outcome. Families that cannot generate single rows generate the whole problem.
  bool made = false;              ///< only the rows wanted, without unmatched costs
  Index all_rows = 0;             ///< of the whole matrix
  std::optional<Cost> unmatched;  ///< of every vertex, where the text gives one
};

/// As generate_assignment (instances.h), but for the rows.
Costs generate_rows(const Execution& execution, std::string_view text, RowsWanted& wanted);

}  // namespace motes::matching::instances
