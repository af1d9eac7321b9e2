#pragma once
/// Structured matrices, of the kinds that assignment solvers find hard (instances.h lists them), each
/// generated from the parameters of a recipe.

#include <optional>

#include <motes/base/execution.h>
#include <motes/matching/problem.h>

#include "matching/instances/recipe.h"

namespace motes::matching::instances {

/// The names of the families, separated by commas, for messages.
std::string structured_families();

/// The matrix that the recipe names, unless its family is of another kind.
std::optional<DenseCosts> structured_matrix(const Execution& execution, Recipe& recipe);

}  // namespace motes::matching::instances
